package ops

import (
	"math"

	"port/vector"
)

const queryBlock = 64 // queries whose scores are held at once

// Attention says how large one is: Q is [Batch, QLen, QHeads, HeadDim], K and V [Batch, Capacity, KVHeads, HeadDim];
// query i stands at position KVLen - QLen + i.
type Attention struct {
	Batch, QHeads, KVHeads, QLen, KVLen, Capacity, HeadDim int
	Scale                                                  float32
}

// query has the rows of one head; number counts the heads of all samples.
func (a Attention) query(q []float32, number int) vector.Matrix {
	row := a.QHeads * a.HeadDim
	return vector.Matrix{Data: q[number/a.QHeads*a.QLen*row+number%a.QHeads*a.HeadDim:], Row: row, Column: 1}
}

// key has the keys or values that a query head reads.
func (a Attention) key(k []float32, number int) vector.Matrix {
	row, head := a.KVHeads*a.HeadDim, number%a.QHeads*a.KVHeads/a.QHeads
	return vector.Matrix{Data: k[number/a.QHeads*a.Capacity*row+head*a.HeadDim:], Row: row, Column: 1}
}

// blocks calls run with (first query, queries, keys that the last of them sees).
func (a Attention) blocks(run func(first, count, keys int)) {
	for first := 0; first < a.QLen; first += queryBlock {
		count := queryBlock
		if a.QLen-first < count {
			count = a.QLen - first
		}
		run(first, count, a.KVLen-a.QLen+first+count)
	}
}

func (a Attention) work() int { return a.QLen * a.KVLen * a.HeadDim / 8 }

// Forward writes output, and lse, the log-sum-exp of each query's scores, [Batch, QHeads, QLen].
func (a Attention) Forward(q, k, v, output, lse []float32) {
	vector.Share(a.Batch*a.QHeads, a.work(), func(first, last int) {
		scores := make([]float32, queryBlock*a.KVLen)
		heads := make([]float32, queryBlock*a.HeadDim)
		for number := first; number < last; number++ {
			a.head(number, a.query(q, number), a.key(k, number), a.key(v, number), output, lse, scores, heads)
		}
	})
}

func (a Attention) head(number int, q, k, v vector.Matrix, output, lse, scores, rows []float32) {
	d, to := a.HeadDim, a.query(output, number)
	a.blocks(func(first, count, keys int) {
		vector.Multiply(q.Below(first), k.Transposed(), count, keys, d, a.Scale, 0, scores, keys)
		var factors [queryBlock]float32
		for i := 0; i < count; i++ {
			row, seen := scores[i*keys:][:keys], keys-count+i+1
			largest := vector.Maximum(row[:seen])
			total := vector.ExpShifted(row[:seen], largest, row)
			clear(row[seen:])
			factors[i] = float32(1 / total)
			lse[number*a.QLen+first+i] = float32(float64(largest) + math.Log(total))
		}
		vector.Multiply(vector.Plain(scores, keys), v, count, d, keys, 1, 0, rows, d)
		for i := 0; i < count; i++ {
			vector.Scale(rows[i*d:][:d], factors[i], to.Data[(first+i)*to.Row:])
		}
	})
}

// Given is what backward has beside the inputs.
type Given struct{ Output, LSE, DOutput []float32 }

// Backward writes the gradients of Q, K and V; those of K and V are summed over the heads of a group.
func (a Attention) Backward(q, k, v []float32, g Given, dQ, dK, dV []float32) {
	n, d := a.QLen, a.HeadDim
	size := n * d
	heads := make([]float32, a.Batch*a.QHeads*3*size) // of each head dQ, dK, dV
	vector.Share(a.Batch*a.QHeads, 3*a.work(), func(first, last int) {
		memory := make([]float32, 2*queryBlock*n)
		for number := first; number < last; number++ {
			a.headBackward(number, q, k, v, g, heads[number*3*size:][:3*size], memory)
		}
	})
	clear(dK)
	clear(dV)
	for number := 0; number < a.Batch*a.QHeads; number++ {
		part, to := heads[number*3*size:][:3*size], a.query(dQ, number)
		toK, toV := a.key(dK, number), a.key(dV, number)
		for i := 0; i < n; i++ {
			copy(to.Data[i*to.Row:][:d], part[i*d:])
			vector.Axpy(part[size+i*d:][:d], 1, toK.Data[i*toK.Row:])
			vector.Axpy(part[2*size+i*d:][:d], 1, toV.Data[i*toV.Row:])
		}
	}
}

func (a Attention) headBackward(number int, qs, ks, vs []float32, g Given, part, memory []float32) {
	n, d := a.QLen, a.HeadDim
	q, k, v := a.query(qs, number), a.key(ks, number), a.key(vs, number)
	output, dOutput := a.query(g.Output, number), a.query(g.DOutput, number)
	dQ, dK, dV := part[:n*d], part[n*d:2*n*d], part[2*n*d:]
	a.blocks(func(first, count, keys int) {
		p, ds, dy := memory[:count*keys], memory[count*keys:2*count*keys], dOutput.Below(first)
		vector.Multiply(q.Below(first), k.Transposed(), count, keys, d, a.Scale, 0, p, keys)
		vector.Multiply(dy, v.Transposed(), count, keys, d, 1, 0, ds, keys)
		for i := 0; i < count; i++ {
			seen, row := first+i+1, (first+i)*output.Row
			inner := float32(vector.Dot(dOutput.Data[row:][:d], output.Data[row:][:d]))
			p, ds := p[i*keys:][:keys], ds[i*keys:][:keys]
			vector.ExpShifted(p[:seen], g.LSE[number*n+first+i], p)
			for j, p := range p[:seen] {
				ds[j] = a.Scale * (p * (ds[j] - inner))
			}
			clear(p[seen:])
			clear(ds[seen:])
		}
		vector.Multiply(vector.Plain(ds, keys), k, count, d, keys, 1, 0, dQ[first*d:], d)
		// Rows of keys that no block before has seen are 0.
		vector.Multiply(vector.Turned(ds, keys), q.Below(first), keys, d, count, 1, 1, dK, d)
		vector.Multiply(vector.Turned(p, keys), dy, keys, d, count, 1, 1, dV, d)
	})
}

// KVCacheAppend is cache[:, position : position + newLen] = input; width is a position's.
func KVCacheAppend(input []float32, capacity, newLen, width, position int, cache []float32) {
	for sample := 0; sample*capacity*width < len(cache); sample++ {
		to := cache[(sample*capacity+position)*width:]
		copy(to[:newLen*width], input[sample*newLen*width:])
	}
}
