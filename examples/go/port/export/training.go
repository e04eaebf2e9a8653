package main

import "C"

import (
	"unsafe"

	"math"

	"port/ops"
)

//export cuda_embedding
func cuda_embedding(weight *float32, indices *int32, output *float32, num_indices, vocab_size, embedding_dim int32, stream unsafe.Pointer) int32 {
	c := begin()
	weight_ := array(&c, weight, int64(vocab_size), int64(embedding_dim))
	indices_ := array(&c, indices, int64(num_indices))
	output_ := array(&c, output, int64(num_indices), int64(embedding_dim))
	c.within(indices_, 0, int64(vocab_size))
	if c.refused {
		return invalid
	}
	ops.Embedding(weight_, indices_, int(embedding_dim), output_)
	return ok
}

//export cuda_scatter_add
func cuda_scatter_add(grad_output *float32, indices *int32, grad_weight *float32, num_indices, embedding_dim int32, stream unsafe.Pointer) int32 {
	c := begin()
	grad_output_ := array(&c, grad_output, int64(num_indices), int64(embedding_dim))
	indices_ := array(&c, indices, int64(num_indices))
	last := int64(0) // the table is as long as the largest index says: its length is no argument
	for _, index := range indices_ {
		if int64(index) > last {
			last = int64(index)
		}
	}
	grad_weight_ := array(&c, grad_weight, last+1, int64(embedding_dim))
	if c.refused {
		return invalid
	}
	ops.ScatterAdd(grad_output_, indices_, int(embedding_dim), grad_weight_)
	return ok
}

//export cuda_cross_entropy_forward
func cuda_cross_entropy_forward(logits *float32, targets *int32, loss, log_probs *float32, batch_seq, vocab_size int32, stream unsafe.Pointer) int32 {
	c := begin()
	logits_ := array(&c, logits, int64(batch_seq), int64(vocab_size))
	targets_ := array(&c, targets, int64(batch_seq))
	loss_ := array(&c, loss, int64(1))
	log_probs_ := array(&c, log_probs, int64(batch_seq), int64(vocab_size))
	c.within(targets_, math.MinInt32, int64(vocab_size))
	if c.refused {
		return invalid
	}
	loss_[0] = ops.CrossEntropy(logits_, targets_, int(vocab_size), log_probs_)
	return ok
}

//export cuda_cross_entropy_backward
func cuda_cross_entropy_backward(log_probs *float32, targets *int32, d_logits *float32, batch_seq, vocab_size int32, scale float32, stream unsafe.Pointer) int32 {
	c := begin()
	log_probs_ := array(&c, log_probs, int64(batch_seq), int64(vocab_size))
	targets_ := array(&c, targets, int64(batch_seq))
	d_logits_ := array(&c, d_logits, int64(batch_seq), int64(vocab_size))
	c.within(targets_, math.MinInt32, int64(vocab_size))
	if c.refused {
		return invalid
	}
	ops.CrossEntropyBackward(log_probs_, targets_, int(vocab_size), scale, d_logits_)
	return ok
}

//export cuda_zero_grad
func cuda_zero_grad(grad *float32, size int64, stream unsafe.Pointer) int32 {
	c := begin()
	grad_ := array(&c, grad, int64(size))
	if c.refused {
		return invalid
	}
	for i := range grad_ {
		grad_[i] = 0
	}
	return ok
}

//export cuda_multi_sum_squares
func cuda_multi_sum_squares(inputs **float32, sizes *int64, sum_squares *float32, count int32, stream unsafe.Pointer) int32 {
	c := begin()
	sizes_ := array(&c, sizes, int64(count))
	sum_squares_ := array(&c, sum_squares, int64(1))
	inputs_ := list(&c, inputs, sizes_)
	if c.refused {
		return invalid
	}
	sum_squares_[0] = ops.MultiSumSquares(inputs_)
	return ok
}

//export cuda_clip_scale
func cuda_clip_scale(sum_squares, total_norm, scale *float32, clip_norm float32, stream unsafe.Pointer) int32 {
	c := begin()
	sum_squares_ := array(&c, sum_squares, int64(1))
	total_norm_ := array(&c, total_norm, int64(1))
	scale_ := array(&c, scale, int64(1))
	c.require(clip_norm > 0)
	if c.refused {
		return invalid
	}
	total_norm_[0], scale_[0] = ops.ClipScale(sum_squares_[0], clip_norm)
	return ok
}

//export cuda_multi_adamw
func cuda_multi_adamw(params, grads, ms, vs **float32, sizes *int64, weight_decays, grad_scale *float32, count int32, lr, beta1, beta2, eps float32, step int32, stream unsafe.Pointer) int32 {
	c := begin()
	sizes_ := array(&c, sizes, int64(count))
	weight_decays_ := array(&c, weight_decays, int64(count))
	grad_scale_ := array(&c, grad_scale, int64(1))
	params_, grads_ := list(&c, params, sizes_), list(&c, grads, sizes_)
	ms_, vs_ := list(&c, ms, sizes_), list(&c, vs, sizes_)
	c.require(lr >= 0 && beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1 && eps >= 0 && step >= 1)
	if c.refused {
		return invalid
	}
	arrays := make([]ops.Updated, count)
	for i := range arrays {
		arrays[i] = ops.Updated{Param: params_[i], Grad: grads_[i], M: ms_[i], V: vs_[i], WeightDecay: weight_decays_[i]}
	}
	ops.MultiAdamW(arrays, grad_scale_[0], ops.Adam{LR: lr, Beta1: beta1, Beta2: beta2, Eps: eps, Step: step})
	return ok
}
