package main

import "C"

import (
	"unsafe"

	"port/ops"
)

//export cuda_argmax
func cuda_argmax(logits *float32, output *int32, batch, vocab_size int32, stream unsafe.Pointer) int32 {
	c := begin()
	logits_ := array(&c, logits, int64(batch), int64(vocab_size))
	output_ := array(&c, output, int64(batch))
	if c.refused {
		return invalid
	}
	ops.ArgMax(logits_, int(vocab_size), output_)
	return ok
}

//export cuda_sample
func cuda_sample(logits *float32, output *int32, seeds *uint64, batch, vocab_size int32, temperature float32, stream unsafe.Pointer) int32 {
	c := begin()
	logits_ := array(&c, logits, int64(batch), int64(vocab_size))
	output_ := array(&c, output, int64(batch))
	seeds_ := array(&c, seeds, int64(batch))
	c.require(temperature >= 0)
	if c.refused {
		return invalid
	}
	ops.Sample(logits_, seeds_, int(vocab_size), ops.Walk{}, temperature, output_)
	return ok
}

//export cuda_topk_sample
func cuda_topk_sample(logits *float32, output *int32, seeds *uint64, batch, vocab_size int32, k int32, temperature float32, stream unsafe.Pointer) int32 {
	c := begin()
	logits_ := array(&c, logits, int64(batch), int64(vocab_size))
	output_ := array(&c, output, int64(batch))
	seeds_ := array(&c, seeds, int64(batch))
	c.require(k >= 1 && temperature >= 0)
	if c.refused {
		return invalid
	}
	ops.Sample(logits_, seeds_, int(vocab_size), ops.Walk{K: int(k)}, temperature, output_)
	return ok
}

//export cuda_topp_sample
func cuda_topp_sample(logits *float32, output *int32, seeds *uint64, batch, vocab_size int32, top_p, temperature float32, stream unsafe.Pointer) int32 {
	c := begin()
	logits_ := array(&c, logits, int64(batch), int64(vocab_size))
	output_ := array(&c, output, int64(batch))
	seeds_ := array(&c, seeds, int64(batch))
	c.require(top_p == top_p && temperature >= 0)
	if c.refused {
		return invalid
	}
	ops.Sample(logits_, seeds_, int(vocab_size), ops.Walk{ByShare: true, Share: top_p}, temperature, output_)
	return ok
}
