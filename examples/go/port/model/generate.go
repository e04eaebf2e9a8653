package model

import "port/ops"

// A Strategy says how the next token is chosen.
type Strategy struct {
	Greedy      bool
	Walk        ops.Walk
	Temperature float32
	Seed        uint64
}

// Generate is the prompt [batch, n] continued by count tokens: [batch, n + count].
func (c Config) Generate(p Arrays, prompt []int32, batch, count int, strategy Strategy) []int32 {
	length := len(prompt) / batch
	capacity := length + count
	at := place{batch: batch, freqs: c.angles(capacity)}
	caches := make([]*cache, c.Layers)
	for layer := range caches {
		size := batch * capacity * c.KVHeads * c.HeadDim
		caches[layer] = &cache{make([]float32, size), make([]float32, size), capacity}
	}
	all := make([]int32, batch*capacity)
	for row := 0; row < batch; row++ {
		copy(all[row*capacity:], prompt[row*length:][:length])
	}
	tokens := prompt
	for step := 0; step < count; step++ {
		at.seq = len(tokens) / batch
		normed := c.below(p, tokens, at, caches).normed
		last := make([]float32, 0, batch*c.Hidden)
		for row := 1; row <= batch; row++ {
			last = append(last, normed[(row*at.seq-1)*c.Hidden:][:c.Hidden]...)
		}
		tokens = strategy.choose(linear(last, p["lm_head"], c.Hidden), c.Vocab, batch, step)
		at.position += at.seq
		for row, token := range tokens {
			all[row*capacity+at.position] = token
		}
	}
	return all
}

// choose takes one well-mixed seed for each row and step.
func (s Strategy) choose(logits []float32, vocab, batch, step int) []int32 {
	tokens := make([]int32, batch)
	if s.Greedy {
		ops.ArgMax(logits, vocab, tokens)
		return tokens
	}
	seeds := make([]uint64, batch)
	for row := range seeds {
		seeds[row] = Stream(s.Seed, "token", step, row)
	}
	ops.Sample(logits, seeds, vocab, s.Walk, s.Temperature, tokens)
	return tokens
}
