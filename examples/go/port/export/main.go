// Package main exports the operations by the names of assayer.h: go build -buildmode=c-shared. Each function looks at its
// arguments first: what breaks the declaration is refused, nothing written. An array as a slice has its name with an
// underscore behind it.
package main

import "C"

import (
	"math"
	"runtime"
	"unsafe"

	"port/ops"
)

const (
	ok      = 0
	invalid = -2
)

// A check remembers whether an argument of a call broke the declaration.
type check struct{ refused bool }

// The collector waits until 4 MB have gathered. Their pages are touched here, all at once: call by call a host would see
// memory that grows.
func init() {
	pages := make([]byte, 4<<20)
	for i := 0; i < len(pages); i += 4096 {
		pages[i] = 1
	}
	runtime.KeepAlive(pages)
	pages = nil
	runtime.GC()
}

func (c *check) require(condition bool) { c.refused = c.refused || !condition }

// array is what a pointer points to; refused where it is null, a size is below 1, or the bytes do not fit in 63 bits.
func array[T any](c *check, pointer *T, sizes ...int64) []T {
	var one T
	room, length := math.MaxInt64/int64(unsafe.Sizeof(one)), int64(1)
	for _, size := range sizes {
		if size < 1 {
			c.refused = true
			return nil
		}
		room /= size
		length *= size
	}
	c.require(pointer != nil && room >= 1)
	if c.refused {
		return nil
	}
	return unsafe.Slice(pointer, length)
}

// list is an array of arrays, the i-th of sizes[i] elements.
func list(c *check, pointers **float32, sizes []int64) [][]float32 {
	if c.refused {
		return nil
	}
	arrays := make([][]float32, len(sizes))
	for i, pointer := range array(c, pointers, int64(len(sizes))) {
		arrays[i] = array(c, pointer, sizes[i])
	}
	return arrays
}

// within: every value is at least low and below high.
func (c *check) within(values []int32, low int32, high int64) {
	if c.refused {
		return
	}
	for _, value := range values {
		c.require(value >= low && int64(value) < high)
	}
}

// ascending: offsets go from 0 to the rows.
func (c *check) ascending(offsets []int32, rows int32) {
	if c.refused {
		return
	}
	c.require(offsets[0] == 0 && offsets[len(offsets)-1] == rows)
	for e := 1; e < len(offsets); e++ {
		c.require(offsets[e-1] <= offsets[e])
	}
}

// pairs of a permutation.
func (c *check) pairs(position []int32) []int {
	if c.refused {
		return nil
	}
	pairs, isPermutation := ops.PairsOf(position)
	c.require(isPermutation)
	return pairs
}

//export assayer_version
func assayer_version(version *int32) int32 {
	var c check
	version_ := array(&c, version, 1)
	if c.refused {
		return invalid
	}
	version_[0] = 1
	return ok
}

func main() {}
