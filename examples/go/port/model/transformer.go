package model

import "port/ops"

type keptLayer struct {
	attnStream, ffnStream []float32
	attended              attended
	mixed                 mixed
}

// trunk is everything below the head.
type trunk struct {
	stream, normed []float32
	auxLoss        float32
	layers         []keptLayer
}

// joined is (norm of the sum, the sum) of stream and branch; before the first sublayer there is no branch.
func (c Config) joined(weight, stream, branch []float32) (normed, sum []float32) {
	normed = make([]float32, len(stream))
	if branch == nil {
		ops.RMSNorm(stream, weight, c.Eps, normed)
		return normed, stream
	}
	sum = make([]float32, len(stream))
	ops.RMSNormResidual(branch, stream, weight, c.Eps, normed, sum)
	return normed, sum
}

func (c Config) angles(length int) []float32 {
	freqs := make([]float32, length*c.HeadDim/2)
	ops.RopeFreqs(freqs, c.HeadDim, c.RopeBase, c.RopeAlpha)
	return freqs
}

// below computes the trunk; caches: one for each layer, or none at all.
func (c Config) below(p Arrays, tokens []int32, at place, caches []*cache) trunk {
	stream := make([]float32, len(tokens)*c.Hidden)
	ops.Embedding(p["embedding"], tokens, c.Hidden, stream)
	var branch, normed []float32
	result := trunk{}
	for layer := 0; layer < c.Layers; layer++ {
		var held *cache
		if caches != nil {
			held = caches[layer]
		}
		var kept keptLayer
		normed, kept.attnStream = c.joined(p[named(layer, "attn_norm")], stream, branch)
		branch, kept.attended = c.attend(p, layer, normed, at, held)
		normed, kept.ffnStream = c.joined(p[named(layer, "ffn_norm")], kept.attnStream, branch)
		var auxLoss float32
		branch, auxLoss, kept.mixed = c.mix(p, layer, normed)
		stream = kept.ffnStream
		result.auxLoss += auxLoss
		result.layers = append(result.layers, kept)
	}
	result.normed, result.stream = c.joined(p["final_norm"], stream, branch)
	return result
}

// backward is the gradient of every parameter; that of the auxiliary loss is 1.
func (c Config) backward(p Arrays, tokens []int32, at place, below trunk, dLogits []float32) Arrays {
	gradients := Arrays{}
	dNormed := make([]float32, len(below.normed))
	gradients["lm_head"] = linearBackward(below.normed, p["lm_head"], c.Hidden, dLogits, dNormed)
	norm := func(name string, stream, dNormed, dStream []float32) []float32 {
		dSum := make([]float32, len(stream))
		gradients[name] = make([]float32, c.Hidden)
		ops.RMSNormBackward(stream, p[name], dNormed, dStream, c.Eps, 0, dSum, gradients[name])
		return dSum
	}
	dStream := norm("final_norm", below.stream, dNormed, nil)
	for layer := c.Layers - 1; layer >= 0; layer-- {
		kept := below.layers[layer]
		dNormed = c.mixBackward(p, layer, kept.mixed, dStream, gradients)
		dStream = norm(named(layer, "ffn_norm"), kept.ffnStream, dNormed, dStream)
		dNormed = c.attendBackward(p, layer, kept.attended, at, dStream, gradients)
		dStream = norm(named(layer, "attn_norm"), kept.attnStream, dNormed, dStream)
	}
	gradients["embedding"] = make([]float32, len(p["embedding"]))
	ops.ScatterAdd(dStream, tokens, c.Hidden, gradients["embedding"])
	return gradients
}
