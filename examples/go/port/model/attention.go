package model

import "port/ops"

// A place is where tokens stand: seq of them in each of batch samples, from position on.
type place struct {
	batch, seq, position int
	freqs                []float32
}

// A cache has one layer's rotated keys and values, [batch, capacity, kv_heads, head_dim].
type cache struct {
	keys, values []float32
	capacity     int
}

// attended is what backward needs: q and k are rotated, output is attention's before w_o.
type attended struct{ x, q, k, v, output, lse []float32 }

func (c Config) attention(at place, capacity int) ops.Attention {
	return ops.Attention{Batch: at.batch, QHeads: c.QHeads, KVHeads: c.KVHeads, QLen: at.seq, KVLen: at.position + at.seq,
		Capacity: capacity, HeadDim: c.HeadDim, Scale: c.scale()}
}

func (c Config) turned(at place, x []float32, heads int, direction float32) []float32 {
	y := make([]float32, len(x))
	ops.Rotation{Freqs: at.freqs, Seq: at.seq, HeadDim: c.HeadDim, Offset: at.position, Direction: direction}.Rotate(x, heads, y)
	return y
}

// attend is the attention sublayer; with a cache the tokens follow those whose keys and values it holds.
func (c Config) attend(p Arrays, layer int, x []float32, at place, held *cache) ([]float32, attended) {
	q := c.turned(at, linear(x, p[named(layer, "w_q")], c.Hidden), c.QHeads, 1)
	k := c.turned(at, linear(x, p[named(layer, "w_k")], c.Hidden), c.KVHeads, 1)
	v := linear(x, p[named(layer, "w_v")], c.Hidden)
	kept := attended{x, q, k, v, make([]float32, len(q)), make([]float32, len(q)/c.HeadDim)}
	if held == nil {
		c.attention(at, at.seq).Forward(q, k, v, kept.output, kept.lse)
	} else {
		width := c.KVHeads * c.HeadDim
		ops.KVCacheAppend(k, held.capacity, at.seq, width, at.position, held.keys)
		ops.KVCacheAppend(v, held.capacity, at.seq, width, at.position, held.values)
		c.attention(at, held.capacity).Forward(q, held.keys, held.values, kept.output, kept.lse)
	}
	return linear(kept.output, p[named(layer, "w_o")], c.QHeads*c.HeadDim), kept
}

// attendBackward is the gradient of x; those of the weights go to gradients. Of a forward without a cache.
func (c Config) attendBackward(p Arrays, layer int, kept attended, at place, dY []float32, gradients Arrays) []float32 {
	dOutput, name := make([]float32, len(kept.output)), named(layer, "w_o")
	gradients[name] = linearBackward(kept.output, p[name], c.QHeads*c.HeadDim, dY, dOutput)
	dQ, dK, dV := make([]float32, len(kept.q)), make([]float32, len(kept.k)), make([]float32, len(kept.v))
	given := ops.Given{Output: kept.output, LSE: kept.lse, DOutput: dOutput}
	c.attention(at, at.seq).Backward(kept.q, kept.k, kept.v, given, dQ, dK, dV)
	dX := make([]float32, len(kept.x))
	for _, one := range []struct {
		field string
		d     []float32
	}{{"w_q", c.turned(at, dQ, c.QHeads, -1)}, {"w_k", c.turned(at, dK, c.KVHeads, -1)}, {"w_v", dV}} {
		name := named(layer, one.field)
		gradients[name] = linearBackward(kept.x, p[name], c.Hidden, one.d, dX)
	}
	return dX
}
