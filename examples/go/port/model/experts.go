package model

import "port/ops"

// mixed is what backward needs; a token has one row for each expert that is chosen for it.
type mixed struct {
	x, probs, weights, counts      []float32
	indices, offsets, position     []int32
	rows, gate, up, inner, outputs []float32
}

// mix is the mixture of experts: (output, the layer's auxiliary loss, kept).
func (c Config) mix(p Arrays, layer int, x []float32) ([]float32, float32, mixed) {
	h, f, k := c.Hidden, c.FFN, c.TopK
	tokens := len(x) / h
	weight := func(field string) []float32 { return p[named(layer, field)] }
	logits := linear(x, weight("router"), h)
	kept := mixed{x: x, probs: make([]float32, len(logits)), weights: make([]float32, tokens*k),
		counts: make([]float32, c.Experts), indices: make([]int32, tokens*k), offsets: make([]int32, c.Experts+1),
		position: make([]int32, tokens*k), rows: make([]float32, tokens*k*h), gate: make([]float32, tokens*k*f),
		up: make([]float32, tokens*k*f), inner: make([]float32, tokens*k*f), outputs: make([]float32, tokens*k*h)}
	ops.SoftmaxTopK(logits, c.Experts, k, kept.weights, kept.indices)
	ops.Softmax(logits, c.Experts, kept.probs)
	auxLoss := ops.AuxLoss(kept.probs, kept.indices, k, c.AuxAlpha, kept.counts, make([]float32, c.Experts))
	ops.ExpertSort(kept.indices, kept.offsets, kept.position)
	pairs, _ := ops.PairsOf(kept.position)

	ops.ExpertDispatch(x, pairs, k, h, kept.rows)
	ops.Grouped(kept.rows, weight("gate"), kept.offsets, f, h, true, kept.gate)
	ops.Grouped(kept.rows, weight("up"), kept.offsets, f, h, true, kept.up)
	ops.SwiGLU(kept.gate, kept.up, kept.inner)
	ops.Grouped(kept.inner, weight("down"), kept.offsets, h, f, true, kept.outputs)
	y := make([]float32, len(x))
	ops.ExpertCombine(kept.outputs, kept.weights, kept.position, k, h, y)
	return y, auxLoss, kept
}

// mixBackward is the gradient of x; those of the weights go to gradients.
func (c Config) mixBackward(p Arrays, layer int, kept mixed, dY []float32, gradients Arrays) []float32 {
	dOutputs, dWeights := make([]float32, len(kept.outputs)), make([]float32, len(kept.weights))
	ops.ExpertCombineBackward(kept.outputs, kept.weights, kept.position, dY, c.TopK, c.Hidden, dOutputs, dWeights)
	dRows := c.expertsBackward(p, layer, kept, dOutputs, gradients)
	dX, name := make([]float32, len(kept.x)), named(layer, "router")
	ops.ExpertDispatchBackward(dRows, kept.position, c.TopK, c.Hidden, dX)
	gradients[name] = linearBackward(kept.x, p[name], c.Hidden, c.routerBackward(kept, dWeights), dX)
	return dX
}

func (c Config) expertsBackward(p Arrays, layer int, kept mixed, dOutputs []float32, gradients Arrays) []float32 {
	h, f, n := c.Hidden, c.FFN, len(kept.inner)
	gate, up, down := named(layer, "gate"), named(layer, "up"), named(layer, "down")
	dInner, dGate, dUp := make([]float32, n), make([]float32, n), make([]float32, n)
	ops.Grouped(dOutputs, p[down], kept.offsets, f, h, false, dInner)
	ops.SwiGLUBackward(kept.gate, kept.up, dInner, dGate, dUp)
	for _, name := range []string{gate, up, down} {
		gradients[name] = make([]float32, len(p[name]))
	}
	ops.GroupedTN(dGate, kept.rows, kept.offsets, f, h, 0, gradients[gate])
	ops.GroupedTN(dUp, kept.rows, kept.offsets, f, h, 0, gradients[up])
	ops.GroupedTN(dOutputs, kept.inner, kept.offsets, h, f, 0, gradients[down])
	dRows, throughUp := make([]float32, len(kept.rows)), make([]float32, len(kept.rows))
	ops.Grouped(dGate, p[gate], kept.offsets, h, f, false, dRows)
	ops.Grouped(dUp, p[up], kept.offsets, h, f, false, throughUp)
	ops.Add(dRows, throughUp, dRows)
	return dRows
}

// routerBackward goes through the weights of the experts that are chosen, and through the auxiliary loss's means.
func (c Config) routerBackward(kept mixed, dWeights []float32) []float32 {
	n := len(kept.probs)
	dLogits, dProbs, balance := make([]float32, n), make([]float32, n), make([]float32, n)
	ops.SoftmaxTopKBackward(kept.weights, kept.indices, dWeights, c.Experts, c.TopK, dLogits)
	ops.AuxLossBackward(kept.counts, n/c.Experts, c.AuxAlpha, 1, dProbs)
	ops.SoftmaxBackward(kept.probs, dProbs, c.Experts, balance)
	ops.Add(dLogits, balance, dLogits)
	return dLogits
}
