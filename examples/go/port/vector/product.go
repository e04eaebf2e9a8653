// Package vector has what the operations are made of: products of matrices, exponentials, sums, shares of work.
package vector

import "sync"

// A Matrix is read: element (i, j) is Data[i*Row+j*Column].
type Matrix struct {
	Data        []float32
	Row, Column int
}

// Plain has rows of width elements.
func Plain(data []float32, width int) Matrix { return Matrix{data, width, 1} }

// Turned is the transpose of what has rows of width elements.
func Turned(data []float32, width int) Matrix { return Matrix{data, 1, width} }

// Transposed exchanges rows and columns.
func (m Matrix) Transposed() Matrix { return Matrix{m.Data, m.Column, m.Row} }

// Below leaves out the first count rows.
func (m Matrix) Below(count int) Matrix {
	return Matrix{m.Data[min(count*m.Row, len(m.Data)):], m.Row, m.Column}
}

const (
	// Rows and Columns of a tile, whose sums stay in registers.
	Rows, Columns = 6, 16
	depthBlock    = 256  // a packed strip of rows stays in the first cache
	columnBlock   = 1024 // packed columns stay in the second
)

// scratch is what Multiply packs into: kept, as memory that is new costs more than a small product.
type scratch struct {
	panels, strip []float32
	sums          [Rows * Columns]float32
}

var packed = sync.Pool{New: func() any { return new(scratch) }}

// room has at least so many elements, whatever they hold.
func room(memory *[]float32, length int) []float32 {
	if cap(*memory) < length {
		*memory = make([]float32, length)
	}
	return (*memory)[:length]
}

// Multiply computes c = alpha * a . b + beta * c, a of m rows and depth k, b of n columns; row i of c begins at
// i*stride. With beta = 0 c is not read.
func Multiply(a, b Matrix, m, n, k int, alpha, beta float32, c []float32, stride int) {
	memory := packed.Get().(*scratch)
	defer packed.Put(memory)
	panels := room(&memory.panels, min(depthBlock, k)*roundUp(min(columnBlock, n), Columns))
	strip := room(&memory.strip, min(depthBlock, k)*Rows)
	sums := &memory.sums
	if k == 0 {
		for i := 0; i < m; i++ {
			put(make([]float32, n), 1, beta, c[i*stride:][:n])
		}
	}
	for left := 0; left < n; left += columnBlock {
		width := min(columnBlock, n-left)
		for start := 0; start < k; start += depthBlock {
			depth, rest := min(depthBlock, k-start), float32(1)
			if start == 0 {
				rest = beta
			}
			pack(b, left, width, start, depth, Columns, panels)
			for top := 0; top < m; top += Rows {
				height := min(Rows, m-top)
				pack(a.Transposed(), top, height, start, depth, Rows, strip)
				for at := 0; at < width; at += Columns {
					tile(depth, strip, panels[at*depth:], sums)
					count := min(Columns, width-at)
					for i := 0; i < height; i++ {
						put(sums[i*Columns:][:count], alpha, rest, c[(top+i)*stride+left+at:][:count])
					}
				}
			}
		}
	}
}

func put(sums []float32, alpha, beta float32, c []float32) {
	c = c[:len(sums)]
	if beta == 0 {
		for j, sum := range sums {
			c[j] = alpha * sum
		}
		return
	}
	for j, sum := range sums {
		c[j] = alpha*sum + beta*c[j]
	}
}

// pack lays out count columns from first on in panels of width, row by row, the last one filled with zeros.
func pack(from Matrix, first, count, start, depth, width int, to []float32) {
	for at := 0; at < count; at += width {
		panel, columns := to[at*depth:][:depth*width], min(width, count-at)
		if columns < width {
			for i := range panel {
				panel[i] = 0
			}
		}
		if from.Column == 1 {
			for row := 0; row < depth; row++ {
				copy(panel[row*width:][:columns], from.Data[(start+row)*from.Row+first+at:])
			}
			continue
		}
		for j := 0; j < columns; j++ {
			source := from.Data[(first+at+j)*from.Column+start*from.Row:]
			for to, row := j, 0; to < len(panel); to, row = to+width, row+from.Row {
				panel[to] = source[row]
			}
		}
	}
}

func plainTile(depth int, a, b []float32, sums *[Rows * Columns]float32) {
	*sums = [Rows * Columns]float32{}
	for d := 0; d < depth; d++ {
		b := b[d*Columns:][:Columns]
		for i, factor := range a[d*Rows:][:Rows] {
			row := sums[i*Columns:][:Columns]
			for j := range row {
				row[j] += factor * b[j]
			}
		}
	}
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
