//go:build !amd64

package vector

func tile(depth int, a, b []float32, sums *[Rows * Columns]float32) {
	plainTile(depth, a, b, sums)
}
