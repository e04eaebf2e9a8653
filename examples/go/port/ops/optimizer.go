package ops

import (
	"math"

	"port/vector"
)

const part = 1 << 14 // elements that are taken at a time

// cut calls take with the place of each part of arrays of these sizes.
func cut(sizes []int, take func(array, first, last int)) {
	for array, size := range sizes {
		for first := 0; first < size; first += part {
			last := first + part
			if last > size {
				last = size
			}
			take(array, first, last)
		}
	}
}

func sizesOf(arrays [][]float32) []int {
	sizes := make([]int, len(arrays))
	for i, array := range arrays {
		sizes[i] = len(array)
	}
	return sizes
}

// MultiSumSquares is the sum of squares over all arrays, in an order that no number of threads changes.
func MultiSumSquares(inputs [][]float32) float32 {
	var parts [][]float32
	cut(sizesOf(inputs), func(array, first, last int) { parts = append(parts, inputs[array][first:last]) })
	sums := make([]float64, len(parts))
	vector.Share(len(parts), part, func(first, last int) {
		for i := first; i < last; i++ {
			sums[i] = vector.Dot(parts[i], parts[i])
		}
	})
	total := 0.0
	for _, sum := range sums {
		total += sum
	}
	return float32(total)
}

// ClipScale is (norm, the factor that bounds it).
func ClipScale(sumSquares, clipNorm float32) (norm, scale float32) {
	norm = float32(math.Sqrt(float64(sumSquares)))
	if norm > clipNorm {
		return norm, clipNorm / norm
	}
	return norm, 1
}

// Adam has AdamW's constants; Step counts from 1.
type Adam struct {
	LR, Beta1, Beta2, Eps float32
	Step                  int32
}

// Updated is one parameter with its gradient, its moments and its decay.
type Updated struct {
	Param, Grad, M, V []float32
	WeightDecay       float32
}

// MultiAdamW updates all arrays, their gradients taken times gradScale.
func MultiAdamW(arrays []Updated, gradScale float32, adam Adam) {
	var parts []Updated
	sizes := make([]int, len(arrays))
	for i, a := range arrays {
		sizes[i] = len(a.Param)
	}
	cut(sizes, func(array, first, last int) {
		a := arrays[array]
		parts = append(parts, Updated{a.Param[first:last], a.Grad[first:last], a.M[first:last], a.V[first:last], a.WeightDecay})
	})
	vector.Share(len(parts), 4*part, func(first, last int) {
		for _, one := range parts[first:last] {
			adam.update(one, gradScale)
		}
	})
}

func correction(beta float32, step int32) float32 {
	return float32(1 / (1 - math.Pow(float64(beta), float64(step))))
}

func (a Adam) update(u Updated, gradScale float32) {
	c1, c2 := correction(a.Beta1, a.Step), correction(a.Beta2, a.Step)
	rest1, rest2 := 1-a.Beta1, 1-a.Beta2
	p, grad, m, v := u.Param, u.Grad[:len(u.Param)], u.M[:len(u.Param)], u.V[:len(u.Param)]
	for i := range p {
		g := grad[i] * gradScale
		m[i] = a.Beta1*m[i] + rest1*g
		v[i] = a.Beta2*v[i] + rest2*g*g
		root := float32(math.Sqrt(float64(v[i] * c2)))
		p[i] -= a.LR * (m[i]*c1/(root+a.Eps) + u.WeightDecay*p[i])
	}
}
