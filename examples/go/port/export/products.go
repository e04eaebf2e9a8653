package main

import "C"

import (
	"unsafe"

	"port/ops"
	"port/vector"
)

//export cuda_gemm
func cuda_gemm(A, B, C *float32, M, N, K int32, stream unsafe.Pointer) int32 {
	c := begin()
	A_ := array(&c, A, int64(M), int64(K))
	B_ := array(&c, B, int64(N), int64(K))
	C_ := array(&c, C, int64(M), int64(N))
	if c.refused {
		return invalid
	}
	m, n, k := int(M), int(N), int(K)
	ops.GEMM(vector.Plain(A_, k), vector.Turned(B_, k), m, n, k, 1, 0, C_)
	return ok
}

//export cuda_gemm_nn
func cuda_gemm_nn(A, B, C *float32, M, N, K int32, alpha, beta float32, stream unsafe.Pointer) int32 {
	c := begin()
	A_ := array(&c, A, int64(M), int64(K))
	B_ := array(&c, B, int64(K), int64(N))
	C_ := array(&c, C, int64(M), int64(N))
	if c.refused {
		return invalid
	}
	m, n, k := int(M), int(N), int(K)
	ops.GEMM(vector.Plain(A_, k), vector.Plain(B_, n), m, n, k, alpha, beta, C_)
	return ok
}

//export cuda_gemm_tn
func cuda_gemm_tn(A, B, C *float32, M, N, K int32, alpha, beta float32, stream unsafe.Pointer) int32 {
	c := begin()
	A_ := array(&c, A, int64(K), int64(M))
	B_ := array(&c, B, int64(K), int64(N))
	C_ := array(&c, C, int64(M), int64(N))
	if c.refused {
		return invalid
	}
	m, n, k := int(M), int(N), int(K)
	ops.GEMM(vector.Turned(A_, m), vector.Plain(B_, n), m, n, k, alpha, beta, C_)
	return ok
}

//export cuda_grouped_gemm
func cuda_grouped_gemm(A, B *float32, offsets *int32, C *float32, rows, n_experts, N, K int32, stream unsafe.Pointer) int32 {
	c := begin()
	A_ := array(&c, A, int64(rows), int64(K))
	B_ := array(&c, B, int64(n_experts), int64(N), int64(K))
	C_ := array(&c, C, int64(rows), int64(N))
	offsets_ := array(&c, offsets, int64(n_experts)+1)
	c.ascending(offsets_, rows)
	if c.refused {
		return invalid
	}
	ops.Grouped(A_, B_, offsets_, int(N), int(K), true, C_)
	return ok
}

//export cuda_grouped_gemm_nn
func cuda_grouped_gemm_nn(A, B *float32, offsets *int32, C *float32, rows, n_experts, N, K int32, stream unsafe.Pointer) int32 {
	c := begin()
	A_ := array(&c, A, int64(rows), int64(K))
	B_ := array(&c, B, int64(n_experts), int64(K), int64(N))
	C_ := array(&c, C, int64(rows), int64(N))
	offsets_ := array(&c, offsets, int64(n_experts)+1)
	c.ascending(offsets_, rows)
	if c.refused {
		return invalid
	}
	ops.Grouped(A_, B_, offsets_, int(N), int(K), false, C_)
	return ok
}

//export cuda_grouped_gemm_tn
func cuda_grouped_gemm_tn(A, B *float32, offsets *int32, C *float32, rows, n_experts, M, N int32, beta float32, stream unsafe.Pointer) int32 {
	c := begin()
	A_ := array(&c, A, int64(rows), int64(M))
	B_ := array(&c, B, int64(rows), int64(N))
	C_ := array(&c, C, int64(n_experts), int64(M), int64(N))
	offsets_ := array(&c, offsets, int64(n_experts)+1)
	c.ascending(offsets_, rows)
	if c.refused {
		return invalid
	}
	ops.GroupedTN(A_, B_, offsets_, int(M), int(N), beta, C_)
	return ok
}
