package main

import "C"

import (
	"unsafe"

	"math"

	"port/ops"
)

//export cuda_expert_sort
func cuda_expert_sort(indices, offsets, position *int32, tokens, top_k, n_experts int32, stream unsafe.Pointer) int32 {
	c := begin()
	indices_ := array(&c, indices, int64(tokens), int64(top_k))
	position_ := array(&c, position, int64(tokens), int64(top_k))
	offsets_ := array(&c, offsets, int64(n_experts)+1)
	c.require(len(indices_) <= math.MaxInt32)
	c.within(indices_, 0, int64(n_experts))
	if c.refused {
		return invalid
	}
	ops.ExpertSort(indices_, offsets_, position_)
	return ok
}

//export cuda_expert_dispatch
func cuda_expert_dispatch(input *float32, position *int32, output *float32, tokens, top_k, hidden_dim int32, stream unsafe.Pointer) int32 {
	c := begin()
	input_ := array(&c, input, int64(tokens), int64(hidden_dim))
	position_ := array(&c, position, int64(tokens), int64(top_k))
	output_ := array(&c, output, int64(tokens), int64(top_k), int64(hidden_dim))
	pairs := c.pairs(position_)
	if c.refused {
		return invalid
	}
	ops.ExpertDispatch(input_, pairs, int(top_k), int(hidden_dim), output_)
	return ok
}

//export cuda_expert_dispatch_backward
func cuda_expert_dispatch_backward(d_output *float32, position *int32, d_input *float32, tokens, top_k, hidden_dim int32, stream unsafe.Pointer) int32 {
	c := begin()
	d_output_ := array(&c, d_output, int64(tokens), int64(top_k), int64(hidden_dim))
	position_ := array(&c, position, int64(tokens), int64(top_k))
	d_input_ := array(&c, d_input, int64(tokens), int64(hidden_dim))
	c.within(position_, 0, int64(len(position_)))
	if c.refused {
		return invalid
	}
	ops.ExpertDispatchBackward(d_output_, position_, int(top_k), int(hidden_dim), d_input_)
	return ok
}

//export cuda_expert_combine
func cuda_expert_combine(input, weights *float32, position *int32, output *float32, tokens, top_k, hidden_dim int32, stream unsafe.Pointer) int32 {
	c := begin()
	input_ := array(&c, input, int64(tokens), int64(top_k), int64(hidden_dim))
	weights_ := array(&c, weights, int64(tokens), int64(top_k))
	position_ := array(&c, position, int64(tokens), int64(top_k))
	output_ := array(&c, output, int64(tokens), int64(hidden_dim))
	c.within(position_, 0, int64(len(position_)))
	if c.refused {
		return invalid
	}
	ops.ExpertCombine(input_, weights_, position_, int(top_k), int(hidden_dim), output_)
	return ok
}

//export cuda_expert_combine_backward
func cuda_expert_combine_backward(input, weights *float32, position *int32, d_output, d_input, d_weights *float32, tokens, top_k, hidden_dim int32, stream unsafe.Pointer) int32 {
	c := begin()
	input_ := array(&c, input, int64(tokens), int64(top_k), int64(hidden_dim))
	weights_ := array(&c, weights, int64(tokens), int64(top_k))
	position_ := array(&c, position, int64(tokens), int64(top_k))
	d_output_ := array(&c, d_output, int64(tokens), int64(hidden_dim))
	d_input_ := array(&c, d_input, int64(tokens), int64(top_k), int64(hidden_dim))
	d_weights_ := array(&c, d_weights, int64(tokens), int64(top_k))
	c.pairs(position_)
	if c.refused {
		return invalid
	}
	ops.ExpertCombineBackward(input_, weights_, position_, d_output_, int(top_k), int(hidden_dim), d_input_, d_weights_)
	return ok
}

//export cuda_aux_loss_forward
func cuda_aux_loss_forward(router_probs *float32, expert_indices *int32, aux_loss, f_counts, p_means *float32, batch_seq, n_experts, top_k int32, alpha float32, stream unsafe.Pointer) int32 {
	c := begin()
	router_probs_ := array(&c, router_probs, int64(batch_seq), int64(n_experts))
	expert_indices_ := array(&c, expert_indices, int64(batch_seq), int64(top_k))
	aux_loss_ := array(&c, aux_loss, int64(1))
	f_counts_ := array(&c, f_counts, int64(n_experts))
	p_means_ := array(&c, p_means, int64(n_experts))
	c.require(top_k <= n_experts)
	c.within(expert_indices_, 0, int64(n_experts))
	if c.refused {
		return invalid
	}
	aux_loss_[0] = ops.AuxLoss(router_probs_, expert_indices_, int(top_k), alpha, f_counts_, p_means_)
	return ok
}

//export cuda_aux_loss_backward
func cuda_aux_loss_backward(f_counts, d_router_probs *float32, batch_seq, n_experts int32, alpha, scale float32, stream unsafe.Pointer) int32 {
	c := begin()
	f_counts_ := array(&c, f_counts, int64(n_experts))
	d_router_probs_ := array(&c, d_router_probs, int64(batch_seq), int64(n_experts))
	if c.refused {
		return invalid
	}
	ops.AuxLossBackward(f_counts_, int(batch_seq), alpha, scale, d_router_probs_)
	return ok
}
