package model

import "port/ops"

// Training says how an update is made of gradients; LR is that of this update, Step its number, from 1.
type Training struct {
	ops.Adam
	WeightDecay, ClipNorm float32
}

// State is the parameters and AdamW's two moments, by the same names.
type State struct{ Parameters, M, V Arrays }

// Losses of a step; Norm is that of all gradients before they are clipped.
type Losses struct{ CrossEntropy, AuxLoss, Norm float32 }

// Step updates the state from one batch, [batch, seq]; it returns the gradients before they are clipped.
func (c Config) Step(t Training, s State, tokens, targets []int32, batch int) (Losses, Arrays) {
	at := place{batch: batch, seq: len(tokens) / batch}
	at.freqs = c.angles(at.seq)
	below := c.below(s.Parameters, tokens, at, nil)
	logits := linear(below.normed, s.Parameters["lm_head"], c.Hidden)
	logProbs, counted := make([]float32, len(logits)), 0
	crossEntropy := ops.CrossEntropy(logits, targets, c.Vocab, logProbs)
	for _, target := range targets {
		if target >= 0 {
			counted++
		}
	}
	if counted == 0 {
		counted = 1
	}
	ops.CrossEntropyBackward(logProbs, targets, c.Vocab, 1/float32(counted), logits) // which nothing reads any more
	gradients := c.backward(s.Parameters, tokens, at, below, logits)
	return Losses{crossEntropy, below.auxLoss, c.update(t, s, gradients)}, gradients
}

// update clips by the one norm over all gradients, which it returns; the norms' weights do not decay.
func (c Config) update(t Training, s State, gradients Arrays) float32 {
	var all [][]float32
	var arrays []ops.Updated
	for _, one := range c.Parameters() {
		decay := float32(0)
		if len(one.Shape) >= 2 {
			decay = t.WeightDecay
		}
		grad := gradients[one.Name]
		all = append(all, grad)
		arrays = append(arrays, ops.Updated{Param: s.Parameters[one.Name], Grad: grad, M: s.M[one.Name], V: s.V[one.Name],
			WeightDecay: decay})
	}
	norm, scale := ops.ClipScale(ops.MultiSumSquares(all), t.ClipNorm)
	ops.MultiAdamW(arrays, scale, t.Adam)
	return norm
}
