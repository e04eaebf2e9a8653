package vector

import "math"

const rounder, lowest = 12582912.0, -87.33654 // 1.5 * 2^23: what is added to it is rounded; ln(2^-126)

// Exp is within two units in the last place: 0 where the result is subnormal, infinity above 88.72, NaN for NaN.
//
// x = n ln 2 + r with |r| <= ln(2) / 2, and exp(r) by its Taylor polynomial of degree 7, whose remainder is below 2^-27.
func Exp(x float32) float32 {
	clamped := x
	if x > 89 {
		clamped = 89
	}
	if x < lowest {
		return 0
	}
	shifted := clamped*math.Log2E + rounder
	n := shifted - rounder
	r := (clamped - n*0.693359375) + n*2.1219444e-4 // ln 2 in two parts, the first of few digits
	sum := float32(1.0 / 5040)
	sum = sum*r + 1.0/720
	sum = sum*r + 1.0/120
	sum = sum*r + 1.0/24
	sum = sum*r + 1.0/6
	sum = sum*r + 0.5
	sum = sum*r + 1
	sum = sum*r + 1
	power := math.Float32bits(shifted) - 0x4b400000 + 254 // 2^n in two factors, as 2^128 is no float32
	half := power >> 1
	return sum * math.Float32frombits(half<<23) * math.Float32frombits((power-half)<<23)
}

// ExpOf puts exp(factor * x - shift) into y, which may be x.
func ExpOf(x []float32, factor, shift float32, y []float32) {
	for i := expWhole(x, factor, shift, y); i < len(x); i++ {
		y[i] = Exp(factor*x[i] - shift)
	}
}

// Sigmoid puts 1 / (1 + exp(-x)) into y.
func Sigmoid(x, y []float32) {
	ExpOf(x, -1, 0, y)
	for i := range x {
		y[i] = 1 / (1 + y[i])
	}
}

// Dot is the sum of x * y in float64: a square of float32 may pass the largest float32.
func Dot(x, y []float32) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += float64(x[i]) * float64(y[i])
		b += float64(x[i+1]) * float64(y[i+1])
		c += float64(x[i+2]) * float64(y[i+2])
		d += float64(x[i+3]) * float64(y[i+3])
	}
	for ; i < len(x); i++ {
		a += float64(x[i]) * float64(y[i])
	}
	return a + b + c + d
}

// Maximum is the largest; a NaN is passed over.
func Maximum(x []float32) float32 {
	best := float32(math.Inf(-1))
	for _, x := range x {
		if x > best {
			best = x
		}
	}
	return best
}

// ExpShifted puts exp(x - shift) into y, which may be x, and returns the sum.
func ExpShifted(x []float32, shift float32, y []float32) float64 {
	ExpOf(x, 1, shift, y)
	total := 0.0
	for _, e := range y[:len(x)] {
		total += float64(e)
	}
	return total
}

// Scale puts factor * x into y, which may be x.
func Scale(x []float32, factor float32, y []float32) {
	y = y[:len(x)]
	for i, x := range x {
		y[i] = x * factor
	}
}

// Axpy adds factor * x to y.
func Axpy(x []float32, factor float32, y []float32) {
	y = y[:len(x)]
	for i, x := range x {
		y[i] += x * factor
	}
}
