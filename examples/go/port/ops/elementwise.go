// Package ops has the operations of a training step on slices; each backward stands below its forward. The formulas are
// assayer.h's. Arrays are dense and row-major. A function trusts its caller for lengths: package export checks them.
package ops

import "port/vector"

// SwiGLU is silu(gate) * up.
func SwiGLU(gate, up, output []float32) {
	vector.Share(len(output), 8, func(first, last int) {
		vector.Sigmoid(gate[first:last], output[first:])
		for i := first; i < last; i++ {
			output[i] *= gate[i] * up[i]
		}
	})
}

// SwiGLUBackward is the gradient of gate and up.
func SwiGLUBackward(gate, up, dOutput, dGate, dUp []float32) {
	vector.Share(len(dOutput), 10, func(first, last int) {
		vector.Sigmoid(gate[first:last], dUp[first:])
		for i := first; i < last; i++ {
			s := dUp[i]
			dGate[i] = dOutput[i] * up[i] * (s * (1 + gate[i]*(1-s)))
			dUp[i] = dOutput[i] * (gate[i] * s)
		}
	})
}

// Add is a + b.
func Add(a, b, output []float32) {
	for i := range output {
		output[i] = a[i] + b[i]
	}
}

// Embedding is output[i] = weight[indices[i]].
func Embedding(weight []float32, indices []int32, width int, output []float32) {
	for i, index := range indices {
		copy(output[i*width:][:width], weight[int(index)*width:])
	}
}

// ScatterAdd is gradWeight[indices[i]] += gradOutput[i]; a negative index is passed over.
func ScatterAdd(gradOutput []float32, indices []int32, width int, gradWeight []float32) {
	for i, index := range indices {
		if index >= 0 {
			vector.Axpy(gradOutput[i*width:][:width], 1, gradWeight[int(index)*width:])
		}
	}
}
