package assayer

// #include "declarations.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"
)

// A call holds what is known of one: the first thing that is wrong, and what it reads and writes.
type call struct {
	operation string
	err       error
	spans     []span
}

type span struct {
	argument    string
	first, past uintptr
	written     bool
}

func result(operation string, code C.int32_t) error {
	if code == 0 {
		return nil
	}
	return &CallError{operation, Status(code)}
}

func wrong(operation, argument, expected string, got any) error {
	return &ArgumentError{operation, argument, expected, fmt.Sprint(got)}
}

func (c *call) wrong(argument, expected string, got any) {
	if c.err == nil {
		c.err = wrong(c.operation, argument, expected, got)
	}
}

// done makes the call, if nothing is wrong.
func (c *call) done(run func() C.int32_t) error {
	for i, a := range c.spans {
		for _, b := range c.spans[:i] {
			if (a.written || b.written) && a.first < b.past && b.first < a.past {
				c.wrong(a.argument, "an array that does not overlap "+b.argument, "one that does")
			}
		}
	}
	if c.err != nil {
		return c.err
	}
	return result(c.operation, run())
}

// size is a size as the header passes it.
func (c *call) size(argument string, size int) C.int {
	if size < 0 || size > math.MaxInt32 {
		c.wrong(argument, "a size of 32 bits", size)
		return 0
	}
	return C.int(size)
}

// rows is how many rows of a width an array has.
func rows[T Number](c *call, argument string, array Array[T], width int) int {
	if n := length(array); width > 0 && n > 0 && n%width == 0 {
		return n / width
	}
	c.wrong(argument, fmt.Sprintf("one or more rows of %d, at least 1", width), fmt.Sprintf("%d elements", length(array)))
	return 0
}

func length[T Number](array Array[T]) int {
	if array == nil {
		return 0
	}
	return array.Len()
}

// reads is the address of an array that has the length that is due and lies where the library computes.
func reads[T Number](c *call, argument string, array Array[T], expected int) unsafe.Pointer {
	return used(c, argument, array, expected, false)
}

func writes[T Number](c *call, argument string, array Array[T], expected int) unsafe.Pointer {
	return used(c, argument, array, expected, true)
}

func used[T Number](c *call, argument string, array Array[T], expected int, written bool) unsafe.Pointer {
	switch n := length(array); {
	case n != expected:
		c.wrong(argument, fmt.Sprintf("%d elements", expected), n)
	case n == 0:
		c.wrong(argument, "at least one element", "none")
	case array.onHost() && ComputesOnDevice():
		c.wrong(argument, "an array of the device", "one of the host")
	default:
		first := array.address()
		past := uintptr(first) + uintptr(n)*uintptr(size[T]())
		c.spans = append(c.spans, span{argument, uintptr(first), past, written})
		return first
	}
	return nil
}
