package ops

import (
	"math"

	"port/vector"
)

// RopeFreqs are angles [positions, headDim / 2], of a base scaled by NTK's rule.
func RopeFreqs(freqs []float32, headDim int, base, alpha float32) {
	half, dim := headDim/2, float64(headDim)
	scaled := float64(base) * math.Pow(float64(alpha), dim/(dim-2))
	for d := 0; d < half; d++ {
		frequency := math.Pow(scaled, -2*float64(d)/dim)
		for position := 0; position*half < len(freqs); position++ {
			freqs[position*half+d] = float32(float64(position) * frequency)
		}
	}
}

// A Rotation turns [batch, seq, heads, head_dim] by the angles from position Offset on; Direction is 1 or -1.
type Rotation struct {
	Freqs                []float32
	Seq, HeadDim, Offset int
	Direction            float32
}

// Rotate turns interleaved pairs.
func (r Rotation) Rotate(input []float32, heads int, output []float32) {
	half, width := r.HeadDim/2, heads*r.HeadDim
	turns := make([]float32, 2*r.Seq*half)
	for i, angle := range r.Freqs[r.Offset*half:][:r.Seq*half] {
		sin, cos := math.Sincos(float64(angle))
		turns[2*i], turns[2*i+1] = float32(cos), r.Direction*float32(sin)
	}
	vector.Share(len(input)/width, 4*width, func(first, last int) {
		for row := first; row < last; row++ {
			turns := turns[row%r.Seq*r.HeadDim:][:r.HeadDim]
			for at := row * width; at < (row+1)*width; at += r.HeadDim {
				x, y := input[at:][:r.HeadDim], output[at:][:r.HeadDim]
				for d := 0; d < r.HeadDim; d += 2 {
					cos, sin := turns[d], turns[d+1]
					y[d] = x[d]*cos - x[d+1]*sin
					y[d+1] = x[d]*sin + x[d+1]*cos
				}
			}
		}
	})
}
