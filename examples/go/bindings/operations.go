// Package assayer makes safe calls to a library that exports operations of assayer.h.
//
// An operation takes Host slices where the library computes on host memory, and Device arrays everywhere. Lengths and
// overlaps are checked before the call; whatever else the header requires the library checks, and what it refuses comes
// back as a CallError. Calls are on the default stream.
package assayer

// #include "declarations.h"
import "C"

import "unsafe"

func floats(first unsafe.Pointer) *C.float { return (*C.float)(first) }

func ints(first unsafe.Pointer) *C.int32_t { return (*C.int32_t)(first) }

// Silu: output = x * sigmoid(x), x = input.
func Silu(input, output Array[float32]) error {
	c, n := call{operation: "silu"}, length(input)
	x, y := reads(&c, "input", input, n), writes(&c, "output", output, n)
	return c.done(func() C.int32_t { return C.cuda_silu(floats(x), floats(y), C.int64_t(n), nil) })
}

// RMSNorm: each row, of weight's length, over the root of its mean square, times weight.
func RMSNorm(input, weight Array[float32], eps float32, output Array[float32]) error {
	c, n, width := call{operation: "rmsnorm"}, length(input), length(weight)
	count, cols := c.size("rows", rows(&c, "input", input, width)), c.size("hidden_dim", width)
	x, w, y := reads(&c, "input", input, n), reads(&c, "weight", weight, width), writes(&c, "output", output, n)
	return c.done(func() C.int32_t {
		return C.cuda_rmsnorm(floats(x), floats(w), floats(y), count, cols, C.float(eps), nil)
	})
}

// Gemm: output = a . b^T; a has rows of inner, and so has b, as every weight is stored out x in.
func Gemm(a, b Array[float32], inner int, output Array[float32]) error {
	c := call{operation: "gemm"}
	m, n, k := c.size("M", rows(&c, "a", a, inner)), c.size("N", rows(&c, "b", b, inner)), c.size("K", inner)
	x, y := reads(&c, "a", a, length(a)), reads(&c, "b", b, length(b))
	z := writes(&c, "output", output, int(m)*int(n))
	return c.done(func() C.int32_t { return C.cuda_gemm(floats(x), floats(y), floats(z), m, n, k, nil) })
}

// SoftmaxTopK: of each row of cols, the k largest probabilities in descending order, made to sum to 1, and their places.
func SoftmaxTopK(input Array[float32], cols, k int, weights Array[float32], indices Array[int32]) error {
	c := call{operation: "softmax_topk"}
	count := rows(&c, "input", input, cols)
	n, width, chosen := c.size("rows", count), c.size("cols", cols), c.size("k", k)
	x := reads(&c, "input", input, length(input))
	w, i := writes(&c, "weights", weights, count*int(chosen)), writes(&c, "indices", indices, count*int(chosen))
	return c.done(func() C.int32_t {
		return C.cuda_softmax_topk(floats(x), floats(w), ints(i), n, width, chosen, nil)
	})
}

// Embedding: output[i] = weight[indices[i]], rows of width. An index outside of weight is refused, or gives NaN on a
// device.
func Embedding(weight Array[float32], width int, indices Array[int32], output Array[float32]) error {
	c := call{operation: "embedding"}
	vocab, cols := c.size("vocab_size", rows(&c, "weight", weight, width)), c.size("embedding_dim", width)
	count := c.size("num_indices", length(indices))
	w, i := reads(&c, "weight", weight, length(weight)), reads(&c, "indices", indices, length(indices))
	y := writes(&c, "output", output, int(count)*int(cols))
	return c.done(func() C.int32_t {
		return C.cuda_embedding(floats(w), (*C.int)(i), floats(y), count, vocab, cols, nil)
	})
}

// Sample: one column of each row of vocab, drawn by the row's seed; the largest where temperature is 0.
func Sample(logits Array[float32], vocab int, temperature float32, seeds Array[uint64], output Array[int32]) error {
	c := call{operation: "sample"}
	count := rows(&c, "logits", logits, vocab)
	batch, cols := c.size("batch", count), c.size("vocab_size", vocab)
	x, s := reads(&c, "logits", logits, length(logits)), reads(&c, "seeds", seeds, count)
	y := writes(&c, "output", output, count)
	return c.done(func() C.int32_t {
		return C.cuda_sample(floats(x), ints(y), (*C.uint64_t)(s), batch, cols, C.float(temperature), nil)
	})
}
