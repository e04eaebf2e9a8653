// Package main exports the operations by the names of assayer.h: go build -buildmode=c-shared. Each function looks at its
// arguments first: what breaks the declaration is refused, nothing written. An array as a slice has its name with an
// underscore behind it.
package main

import "C"

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"

	"port/ops"
)

const (
	ok      = 0
	invalid = -2
)

// A check remembers whether an argument of a call broke the declaration.
type check struct{ refused bool }

const collected = 128 // calls between two collections

var calls uint64

// begin starts a call. The collector by itself waits until 4 MB have gathered, which a host sees as memory that grows with
// every call; so it is asked to.
func begin() check {
	if atomic.AddUint64(&calls, 1)%collected == 0 {
		runtime.GC()
	}
	return check{}
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
	c := begin()
	version_ := array(&c, version, 1)
	if c.refused {
		return invalid
	}
	version_[0] = 1
	return ok
}

func main() {}
