package main

import "C"

import (
	"unsafe"

	"port/ops"
	"port/vector"
)

//export cuda_swiglu
func cuda_swiglu(gate, up, output *float32, n int64, stream unsafe.Pointer) int32 {
	c := begin()
	gate_ := array(&c, gate, int64(n))
	up_ := array(&c, up, int64(n))
	output_ := array(&c, output, int64(n))
	if c.refused {
		return invalid
	}
	ops.SwiGLU(gate_, up_, output_)
	return ok
}

//export cuda_swiglu_backward
func cuda_swiglu_backward(gate, up, d_output, d_gate, d_up *float32, n int64, stream unsafe.Pointer) int32 {
	c := begin()
	gate_ := array(&c, gate, int64(n))
	up_ := array(&c, up, int64(n))
	d_output_ := array(&c, d_output, int64(n))
	d_gate_ := array(&c, d_gate, int64(n))
	d_up_ := array(&c, d_up, int64(n))
	if c.refused {
		return invalid
	}
	ops.SwiGLUBackward(gate_, up_, d_output_, d_gate_, d_up_)
	return ok
}

//export cuda_add
func cuda_add(a, b, output *float32, n int64, stream unsafe.Pointer) int32 {
	c := begin()
	a_ := array(&c, a, int64(n))
	b_ := array(&c, b, int64(n))
	output_ := array(&c, output, int64(n))
	if c.refused {
		return invalid
	}
	ops.Add(a_, b_, output_)
	return ok
}

//export cuda_scale
func cuda_scale(input *float32, scale float32, output *float32, n int64, stream unsafe.Pointer) int32 {
	c := begin()
	input_ := array(&c, input, int64(n))
	output_ := array(&c, output, int64(n))
	if c.refused {
		return invalid
	}
	vector.Scale(input_, scale, output_)
	return ok
}

//export cuda_softmax
func cuda_softmax(input, output *float32, rows, cols int32, stream unsafe.Pointer) int32 {
	c := begin()
	input_ := array(&c, input, int64(rows), int64(cols))
	output_ := array(&c, output, int64(rows), int64(cols))
	if c.refused {
		return invalid
	}
	ops.Softmax(input_, int(cols), output_)
	return ok
}

//export cuda_softmax_backward
func cuda_softmax_backward(output, d_output, d_input *float32, rows, cols int32, stream unsafe.Pointer) int32 {
	c := begin()
	output_ := array(&c, output, int64(rows), int64(cols))
	d_output_ := array(&c, d_output, int64(rows), int64(cols))
	d_input_ := array(&c, d_input, int64(rows), int64(cols))
	if c.refused {
		return invalid
	}
	ops.SoftmaxBackward(output_, d_output_, int(cols), d_input_)
	return ok
}

//export cuda_softmax_topk
func cuda_softmax_topk(input, weights *float32, indices *int32, rows, cols, k int32, stream unsafe.Pointer) int32 {
	c := begin()
	input_ := array(&c, input, int64(rows), int64(cols))
	weights_ := array(&c, weights, int64(rows), int64(k))
	indices_ := array(&c, indices, int64(rows), int64(k))
	c.require(k <= cols)
	if c.refused {
		return invalid
	}
	ops.SoftmaxTopK(input_, int(cols), int(k), weights_, indices_)
	return ok
}

//export cuda_softmax_topk_backward
func cuda_softmax_topk_backward(weights *float32, indices *int32, d_weights, d_input *float32, rows, cols, k int32, stream unsafe.Pointer) int32 {
	c := begin()
	weights_ := array(&c, weights, int64(rows), int64(k))
	indices_ := array(&c, indices, int64(rows), int64(k))
	d_weights_ := array(&c, d_weights, int64(rows), int64(k))
	d_input_ := array(&c, d_input, int64(rows), int64(cols))
	c.require(k <= cols)
	c.within(indices_, 0, int64(cols))
	if c.refused {
		return invalid
	}
	ops.SoftmaxTopKBackward(weights_, indices_, d_weights_, int(cols), int(k), d_input_)
	return ok
}

//export cuda_rmsnorm
func cuda_rmsnorm(input, weight, output *float32, rows, hidden_dim int32, eps float32, stream unsafe.Pointer) int32 {
	c := begin()
	input_ := array(&c, input, int64(rows), int64(hidden_dim))
	weight_ := array(&c, weight, int64(hidden_dim))
	output_ := array(&c, output, int64(rows), int64(hidden_dim))
	c.require(eps >= 0)
	if c.refused {
		return invalid
	}
	ops.RMSNorm(input_, weight_, eps, output_)
	return ok
}

//export cuda_rmsnorm_backward
func cuda_rmsnorm_backward(input, weight, d_output, d_input, d_weight *float32, rows, hidden_dim int32, eps, beta float32, stream unsafe.Pointer) int32 {
	c := begin()
	input_ := array(&c, input, int64(rows), int64(hidden_dim))
	weight_ := array(&c, weight, int64(hidden_dim))
	d_output_ := array(&c, d_output, int64(rows), int64(hidden_dim))
	d_input_ := array(&c, d_input, int64(rows), int64(hidden_dim))
	d_weight_ := array(&c, d_weight, int64(hidden_dim))
	c.require(eps >= 0)
	if c.refused {
		return invalid
	}
	ops.RMSNormBackward(input_, weight_, d_output_, nil, eps, beta, d_input_, d_weight_)
	return ok
}

//export cuda_rmsnorm_residual
func cuda_rmsnorm_residual(input, residual, weight, output, residual_out *float32, rows, hidden_dim int32, eps float32, stream unsafe.Pointer) int32 {
	c := begin()
	input_ := array(&c, input, int64(rows), int64(hidden_dim))
	residual_ := array(&c, residual, int64(rows), int64(hidden_dim))
	weight_ := array(&c, weight, int64(hidden_dim))
	output_ := array(&c, output, int64(rows), int64(hidden_dim))
	residual_out_ := array(&c, residual_out, int64(rows), int64(hidden_dim))
	c.require(eps >= 0)
	if c.refused {
		return invalid
	}
	ops.RMSNormResidual(input_, residual_, weight_, eps, output_, residual_out_)
	return ok
}

//export cuda_rmsnorm_residual_backward
func cuda_rmsnorm_residual_backward(residual_out, weight, d_output, d_residual_out, d_input, d_weight *float32, rows, hidden_dim int32, eps, beta float32, stream unsafe.Pointer) int32 {
	c := begin()
	residual_out_ := array(&c, residual_out, int64(rows), int64(hidden_dim))
	weight_ := array(&c, weight, int64(hidden_dim))
	d_output_ := array(&c, d_output, int64(rows), int64(hidden_dim))
	d_residual_out_ := array(&c, d_residual_out, int64(rows), int64(hidden_dim))
	d_input_ := array(&c, d_input, int64(rows), int64(hidden_dim))
	d_weight_ := array(&c, d_weight, int64(hidden_dim))
	c.require(eps >= 0)
	if c.refused {
		return invalid
	}
	ops.RMSNormBackward(residual_out_, weight_, d_output_, d_residual_out_, eps, beta, d_input_, d_weight_)
	return ok
}

//export cuda_rope_freqs
func cuda_rope_freqs(freqs *float32, max_seq_len, head_dim int32, base, alpha float32, stream unsafe.Pointer) int32 {
	c := begin()
	freqs_ := array(&c, freqs, int64(max_seq_len), int64(head_dim/2))
	c.require(head_dim > 2 && head_dim%2 == 0 && base > 0 && alpha > 0)
	if c.refused {
		return invalid
	}
	ops.RopeFreqs(freqs_, int(head_dim), base, alpha)
	return ok
}

//export cuda_rope_qk
func cuda_rope_qk(q, k, freqs, q_out, k_out *float32, batch, seq_len, n_q_heads, n_kv_heads, head_dim, offset int32, stream unsafe.Pointer) int32 {
	c := begin()
	q_ := array(&c, q, int64(batch), int64(seq_len), int64(n_q_heads), int64(head_dim))
	k_ := array(&c, k, int64(batch), int64(seq_len), int64(n_kv_heads), int64(head_dim))
	q_out_ := array(&c, q_out, int64(batch), int64(seq_len), int64(n_q_heads), int64(head_dim))
	k_out_ := array(&c, k_out, int64(batch), int64(seq_len), int64(n_kv_heads), int64(head_dim))
	freqs_ := array(&c, freqs, int64(seq_len)+int64(offset), int64(head_dim/2))
	c.require(head_dim%2 == 0 && offset >= 0)
	if c.refused {
		return invalid
	}
	r := ops.Rotation{Freqs: freqs_, Seq: int(seq_len), HeadDim: int(head_dim), Offset: int(offset), Direction: 1}
	r.Rotate(q_, int(n_q_heads), q_out_)
	r.Rotate(k_, int(n_kv_heads), k_out_)
	return ok
}

//export cuda_rope_qk_backward
func cuda_rope_qk_backward(d_q_out, d_k_out, freqs, d_q, d_k *float32, batch, seq_len, n_q_heads, n_kv_heads, head_dim, offset int32, stream unsafe.Pointer) int32 {
	c := begin()
	d_q_out_ := array(&c, d_q_out, int64(batch), int64(seq_len), int64(n_q_heads), int64(head_dim))
	d_k_out_ := array(&c, d_k_out, int64(batch), int64(seq_len), int64(n_kv_heads), int64(head_dim))
	d_q_ := array(&c, d_q, int64(batch), int64(seq_len), int64(n_q_heads), int64(head_dim))
	d_k_ := array(&c, d_k, int64(batch), int64(seq_len), int64(n_kv_heads), int64(head_dim))
	freqs_ := array(&c, freqs, int64(seq_len)+int64(offset), int64(head_dim/2))
	c.require(head_dim%2 == 0 && offset >= 0)
	if c.refused {
		return invalid
	}
	r := ops.Rotation{Freqs: freqs_, Seq: int(seq_len), HeadDim: int(head_dim), Offset: int(offset), Direction: -1}
	r.Rotate(d_q_out_, int(n_q_heads), d_q_)
	r.Rotate(d_k_out_, int(n_kv_heads), d_k_)
	return ok
}
