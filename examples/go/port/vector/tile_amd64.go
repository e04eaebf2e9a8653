package vector

func cpuid(leaf, sub uint32) (b, c uint32)
func xgetbv() (a uint32)

//go:noescape
func tileFMA(depth int, a, b, sums *float32)

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
