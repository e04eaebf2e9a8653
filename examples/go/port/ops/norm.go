package ops

import (
	"math"

	"port/vector"
)

// inverseRoot is 1 / sqrt(mean(x^2) + eps), in float64.
func inverseRoot(x []float32, eps float32) float64 {
	return 1 / math.Sqrt(vector.Dot(x, x)/float64(len(x))+float64(eps))
}

func normalise(x []float32, eps float32, weight, y []float32) {
	r := float32(inverseRoot(x, eps))
	for i := range y {
		y[i] = x[i] * r * weight[i]
	}
}

// RMSNorm is that of every row.
func RMSNorm(input, weight []float32, eps float32, output []float32) {
	n := len(weight)
	vector.Share(len(input)/n, 4*n, func(first, last int) {
		for at := first * n; at < last*n; at += n {
			normalise(input[at:at+n], eps, weight, output[at:at+n])
		}
	})
}

// RMSNormResidual is that of the sum of input and residual, which is put out too.
func RMSNormResidual(input, residual, weight []float32, eps float32, output, residualOut []float32) {
	n := len(weight)
	vector.Share(len(input)/n, 5*n, func(first, last int) {
		for at := first * n; at < last*n; at += n {
			Add(input[at:at+n], residual[at:at+n], residualOut[at:at+n])
			normalise(residualOut[at:at+n], eps, weight, output[at:at+n])
		}
	})
}

// RMSNormBackward adds dResidual to dInput where there is one; dWeight = beta * dWeight + what the rows give.
func RMSNormBackward(input, weight, dOutput, dResidual []float32, eps, beta float32, dInput, dWeight []float32) {
	n := len(weight)
	roots := make([]float32, len(input)/n)
	vector.Share(len(roots), 8*n, func(first, last int) {
		for row := first; row < last; row++ {
			x, dy, dx := input[row*n:][:n], dOutput[row*n:][:n], dInput[row*n:][:n]
			r, inner := inverseRoot(x, eps), 0.0
			for i := range x {
				inner += float64(dy[i]*weight[i]) * float64(x[i])
			}
			root, c := float32(r), float32(r*r*inner/float64(n))
			for i := range dx {
				dx[i] = root * (dy[i]*weight[i] - x[i]*c)
			}
			if dResidual != nil {
				vector.Axpy(dResidual[row*n:][:n], 1, dx)
			}
			roots[row] = root
		}
	})
	sums := make([]float64, n)
	for row, r := range roots {
		x, dy := input[row*n:][:n], dOutput[row*n:][:n]
		for i := range sums {
			sums[i] += float64(dy[i] * (x[i] * r))
		}
	}
	for i, sum := range sums {
		if beta == 0 {
			dWeight[i] = float32(sum)
		} else {
			dWeight[i] = beta*dWeight[i] + float32(sum)
		}
	}
}
