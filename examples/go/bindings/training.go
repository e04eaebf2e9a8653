package assayer

// #include <stdlib.h>
// #include "declarations.h"
import "C"

import "unsafe"

// CrossEntropyForward: loss, the mean of -log_probs[target] over the targets that are not negative; logProbs of every
// row of vocab.
func CrossEntropyForward(logits Array[float32], vocab int, targets Array[int32], loss, logProbs Array[float32]) error {
	c := call{operation: "cross_entropy_forward"}
	count := rows(&c, "logits", logits, vocab)
	n, cols := c.size("batch_seq", count), c.size("vocab_size", vocab)
	x, t := reads(&c, "logits", logits, length(logits)), reads(&c, "targets", targets, count)
	l, p := writes(&c, "loss", loss, 1), writes(&c, "log_probs", logProbs, length(logits))
	return c.done(func() C.int32_t {
		return C.cuda_cross_entropy_forward(floats(x), (*C.int)(t), floats(l), floats(p), n, cols, nil)
	})
}

// RMSNormBackward: dWeight = beta * dWeight + what the rows give; with beta 0 it is not read.
func RMSNormBackward(input, weight, dOutput Array[float32], eps, beta float32, dInput, dWeight Array[float32]) error {
	c, n, width := call{operation: "rmsnorm_backward"}, length(input), length(weight)
	count, cols := c.size("rows", rows(&c, "input", input, width)), c.size("hidden_dim", width)
	x, w, dy := reads(&c, "input", input, n), reads(&c, "weight", weight, width), reads(&c, "d_output", dOutput, n)
	dx, dw := writes(&c, "d_input", dInput, n), writes(&c, "d_weight", dWeight, width)
	return c.done(func() C.int32_t {
		return C.cuda_rmsnorm_backward(floats(x), floats(w), floats(dy), floats(dx), floats(dw), count, cols,
			C.float(eps), C.float(beta), nil)
	})
}

// AdamW is what an update is told; Step counts from 1.
type AdamW struct {
	LR, Beta1, Beta2, Eps, WeightDecay float32
	Step                               int32
}

// AdamWStep updates param and both moments in place.
func AdamWStep(param, grad, m, v Array[float32], a AdamW) error {
	c, n := call{operation: "adamw_step"}, length(param)
	p, g := writes(&c, "param", param, n), reads(&c, "grad", grad, n)
	first, second := writes(&c, "m", m, n), writes(&c, "v", v, n)
	return c.done(func() C.int32_t {
		return C.cuda_adamw_step(floats(p), floats(g), floats(first), floats(second), C.float(a.LR), C.float(a.Beta1),
			C.float(a.Beta2), C.float(a.Eps), C.float(a.WeightDecay), C.int(a.Step), C.int64_t(n), nil)
	})
}

// MultiScale: each array times the one number in scale. The list of addresses that C reads may hold none of Go's memory,
// so that slices are not taken here.
func MultiScale(arrays []*Device[float32], scale Array[float32]) error {
	c, count := call{operation: "multi_scale"}, len(arrays)
	if count == 0 {
		return wrong(c.operation, "arrays", "at least one array", "none")
	}
	lists := C.calloc(C.size_t(count), 16)
	if lists == nil {
		return &CallError{c.operation, NoMemory}
	}
	defer C.free(lists)
	firsts := unsafe.Slice((**C.float)(lists), count)
	sizes := unsafe.Slice((*C.int64_t)(unsafe.Add(lists, 8*count)), count)
	for i, array := range arrays {
		firsts[i], sizes[i] = floats(writes[float32](&c, "arrays", array, array.Len())), C.int64_t(array.Len())
	}
	factor, n := reads(&c, "scale", scale, 1), c.size("count", count)
	return c.done(func() C.int32_t { return C.cuda_multi_scale(&firsts[0], &sizes[0], floats(factor), n, nil) })
}
