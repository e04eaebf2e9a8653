package ops

import "port/vector"

// GEMM is c = alpha * a . b + beta * c, of m rows, n columns and depth k. Weights are stored out x in, so that a layer
// is a product with a transpose.
func GEMM(a, b vector.Matrix, m, n, k int, alpha, beta float32, c []float32) {
	vector.Share(m, n*k/8+n, func(first, last int) {
		vector.Multiply(a.Below(first), b, last-first, n, k, alpha, beta, c[first*n:], n)
	})
}

// Grouped is c[rows of e] = a[rows of e] . b[e]^T, or . b[e] where turned is false; b[e] has n * k elements.
func Grouped(a, b []float32, offsets []int32, n, k int, turned bool, c []float32) {
	experts := len(offsets) - 1
	vector.Share(experts, len(c)/experts*k/8, func(first, last int) {
		for e := first; e < last; e++ {
			start, rows := int(offsets[e]), int(offsets[e+1]-offsets[e])
			weight := vector.Plain(b[e*n*k:][:n*k], n)
			if turned {
				weight = vector.Turned(b[e*n*k:][:n*k], k)
			}
			vector.Multiply(vector.Plain(a[start*k:], k), weight, rows, n, k, 1, 0, c[start*n:], n)
		}
	})
}

// GroupedTN is c[e] = a[rows of e]^T . b[rows of e] + beta * c[e].
func GroupedTN(a, b []float32, offsets []int32, m, n int, beta float32, c []float32) {
	experts := len(offsets) - 1
	vector.Share(experts, len(a)/experts*n/8, func(first, last int) {
		for e := first; e < last; e++ {
			start, rows := int(offsets[e]), int(offsets[e+1]-offsets[e])
			left, right := vector.Turned(a[start*m:], m), vector.Plain(b[start*n:], n)
			vector.Multiply(left, right, m, n, rows, 1, beta, c[e*m*n:], n)
		}
	})
}
