package assayer

// #include <stdlib.h>
// #include "declarations.h"
import "C"

import (
	"math"
	"sync"
	"unsafe"
)

// Number is what an array holds.
type Number interface {
	float32 | int32 | int64 | uint64
}

// An Array is what an operation reads or writes: a Host slice, or a Device array.
type Array[T Number] interface {
	// Len is how many numbers it has.
	Len() int
	address() unsafe.Pointer
	onHost() bool
}

// Host is a slice, for a library that computes on host memory.
type Host[T Number] []T

// Len is how many numbers it has.
func (h Host[T]) Len() int { return len(h) }

func (h Host[T]) onHost() bool { return true }

func (h Host[T]) address() unsafe.Pointer {
	if len(h) == 0 {
		return nil
	}
	return unsafe.Pointer(&h[0])
}

// Device is an array of the library's own memory: of the device, or of the host where there is none. Free it.
type Device[T Number] struct {
	memory unsafe.Pointer
	length int
}

// Len is how many numbers it has; 0 once it is freed.
func (d *Device[T]) Len() int { return d.length }

func (d *Device[T]) onHost() bool { return false }

func (d *Device[T]) address() unsafe.Pointer { return d.memory }

// Zeros returns a new array of zeros.
func Zeros[T Number](length int) (*Device[T], error) {
	d, err := allocate[T](length)
	if err != nil {
		return nil, err
	}
	if err := result("assayer_fill", C.assayer_fill(d.memory, 0, d.bytes(), nil)); err != nil {
		d.Free()
		return nil, err
	}
	return d, nil
}

// ToDevice returns a new array with these numbers.
func ToDevice[T Number](values []T) (*Device[T], error) {
	d, err := allocate[T](len(values))
	if err != nil {
		return nil, err
	}
	if err := transfer(d.memory, Host[T](values).address(), d.bytes()); err != nil {
		d.Free()
		return nil, err
	}
	return d, nil
}

// ToHost returns the numbers, once all that writes them has been done.
func (d *Device[T]) ToHost() ([]T, error) {
	values := make([]T, d.length)
	if d.length == 0 {
		return values, nil
	}
	return values, transfer(Host[T](values).address(), d.memory, d.bytes())
}

// Free gives the memory back; the array is empty then, and a second time does nothing.
func (d *Device[T]) Free() error {
	memory := d.memory
	if memory == nil {
		return nil
	}
	d.memory, d.length = nil, 0
	return result("assayer_free", C.assayer_free(memory))
}

func (d *Device[T]) bytes() C.int64_t { return C.int64_t(d.length) * size[T]() }

func size[T Number]() C.int64_t {
	var one T
	return C.int64_t(unsafe.Sizeof(one))
}

func allocate[T Number](length int) (*Device[T], error) {
	if length < 1 || int64(length) > math.MaxInt64/int64(size[T]()) {
		return nil, wrong("assayer_allocate", "length", "at least one element, in bytes that fit in 63 bits", length)
	}
	d := &Device[T]{length: length}
	return d, result("assayer_allocate", C.assayer_allocate(&d.memory, d.bytes()))
}

func transfer(to, from unsafe.Pointer, bytes C.int64_t) error {
	if err := result("assayer_copy", C.assayer_copy(to, from, bytes, nil)); err != nil {
		return err
	}
	return result("assayer_synchronize", C.assayer_synchronize(nil))
}

var onDevice struct {
	once  sync.Once
	found bool
}

// ComputesOnDevice says whether arrays lie in the memory of a device; false too where the library does not say.
func ComputesOnDevice() bool {
	onDevice.once.Do(func() {
		name := C.CString("device_memory")
		defer C.free(unsafe.Pointer(name))
		var value C.int64_t
		onDevice.found = C.assayer_capability(name, &value) == 0 && value == 1
	})
	return onDevice.found
}

// Version is that of the header which the library was built from.
func Version() (int, error) {
	var version C.int32_t
	err := result("assayer_version", C.assayer_version(&version))
	return int(version), err
}
