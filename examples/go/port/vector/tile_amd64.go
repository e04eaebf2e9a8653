package vector

import "math"

func cpuid(leaf, sub uint32) (b, c uint32)
func xgetbv() (a uint32)

//go:noescape
func tileFMA(depth int, a, b, sums *float32)

//go:noescape
func expFMA(n int, x *float32, factor, shift float32, y *float32)

// What expFMA reads: bounds, parts of the reduction, the polynomial from its highest power on, twice the bias of exponents.
var constants = [14]float32{89, lowest, math.Log2E, rounder, 0.693359375, -2.1219444e-4,
	1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1, math.Float32frombits(254)}

// expWhole computes what fills whole vectors, and returns how much that is.
func expWhole(x []float32, factor, shift float32, y []float32) int {
	whole := len(x) &^ 7
	if !hasFMA || whole == 0 {
		return 0
	}
	expFMA(whole, &x[0], factor, shift, &y[0])
	return whole
}

// Whether the processor has AVX2 and FMA, and the system keeps their registers.
var hasFMA = func() bool {
	const fma, osxsave, avx2, registers = 1 << 12, 1 << 27, 1 << 5, 6
	_, features := cpuid(1, 0)
	if features&fma == 0 || features&osxsave == 0 || xgetbv()&registers != registers {
		return false
	}
	more, _ := cpuid(7, 0)
	return more&avx2 != 0
}()

func tile(depth int, a, b []float32, sums *[Rows * Columns]float32) {
	if hasFMA {
		tileFMA(depth, &a[0], &b[0], &sums[0])
		return
	}
	plainTile(depth, a, b, sums)
}
