//go:build !amd64

package vector

func tile(depth int, a, b []float32, sums *[Rows * Columns]float32) {
	plainTile(depth, a, b, sums)
}

func expWhole(x []float32, factor, shift float32, y []float32) int { return 0 }
