package main

import "C"

import (
	"unsafe"

	"port/ops"
)

//export cuda_attention_forward
func cuda_attention_forward(Q, K, V, output, lse *float32, batch, n_q_heads, n_kv_heads, q_len, kv_len, kv_capacity, head_dim int32, scale float32, stream unsafe.Pointer) int32 {
	c := begin()
	Q_ := array(&c, Q, int64(batch), int64(q_len), int64(n_q_heads), int64(head_dim))
	K_ := array(&c, K, int64(batch), int64(kv_capacity), int64(n_kv_heads), int64(head_dim))
	V_ := array(&c, V, int64(batch), int64(kv_capacity), int64(n_kv_heads), int64(head_dim))
	output_ := array(&c, output, int64(batch), int64(q_len), int64(n_q_heads), int64(head_dim))
	lse_ := array(&c, lse, int64(batch), int64(n_q_heads), int64(q_len))
	c.require(kv_len >= q_len && kv_len <= kv_capacity && n_kv_heads > 0 && n_q_heads%n_kv_heads == 0)
	if c.refused {
		return invalid
	}
	a := ops.Attention{Batch: int(batch), QHeads: int(n_q_heads), KVHeads: int(n_kv_heads), QLen: int(q_len),
		KVLen: int(kv_len), Capacity: int(kv_capacity), HeadDim: int(head_dim), Scale: scale}
	a.Forward(Q_, K_, V_, output_, lse_)
	return ok
}

//export cuda_attention_backward
func cuda_attention_backward(Q, K, V, output, lse, d_output, d_Q, d_K, d_V *float32, batch, n_q_heads, n_kv_heads, seq_len, head_dim int32, scale float32, stream unsafe.Pointer) int32 {
	c := begin()
	Q_ := array(&c, Q, int64(batch), int64(seq_len), int64(n_q_heads), int64(head_dim))
	K_ := array(&c, K, int64(batch), int64(seq_len), int64(n_kv_heads), int64(head_dim))
	V_ := array(&c, V, int64(batch), int64(seq_len), int64(n_kv_heads), int64(head_dim))
	output_ := array(&c, output, int64(batch), int64(seq_len), int64(n_q_heads), int64(head_dim))
	lse_ := array(&c, lse, int64(batch), int64(n_q_heads), int64(seq_len))
	d_output_ := array(&c, d_output, int64(batch), int64(seq_len), int64(n_q_heads), int64(head_dim))
	d_Q_ := array(&c, d_Q, int64(batch), int64(seq_len), int64(n_q_heads), int64(head_dim))
	d_K_ := array(&c, d_K, int64(batch), int64(seq_len), int64(n_kv_heads), int64(head_dim))
	d_V_ := array(&c, d_V, int64(batch), int64(seq_len), int64(n_kv_heads), int64(head_dim))
	c.require(n_kv_heads > 0 && n_q_heads%n_kv_heads == 0)
	if c.refused {
		return invalid
	}
	a := ops.Attention{Batch: int(batch), QHeads: int(n_q_heads), KVHeads: int(n_kv_heads), QLen: int(seq_len),
		KVLen: int(seq_len), Capacity: int(seq_len), HeadDim: int(head_dim), Scale: scale}
	a.Backward(Q_, K_, V_, ops.Given{Output: output_, LSE: lse_, DOutput: d_output_}, d_Q_, d_K_, d_V_)
	return ok
}

//export cuda_kv_cache_append
func cuda_kv_cache_append(input, cache *float32, batch, new_len, n_kv_heads, head_dim, kv_capacity, position int32, stream unsafe.Pointer) int32 {
	c := begin()
	input_ := array(&c, input, int64(batch), int64(new_len), int64(n_kv_heads), int64(head_dim))
	cache_ := array(&c, cache, int64(batch), int64(kv_capacity), int64(n_kv_heads), int64(head_dim))
	c.require(position >= 0 && int64(position)+int64(new_len) <= int64(kv_capacity))
	if c.refused {
		return invalid
	}
	ops.KVCacheAppend(input_, int(kv_capacity), int(new_len), int(n_kv_heads)*int(head_dim), int(position), cache_)
	return ok
}
