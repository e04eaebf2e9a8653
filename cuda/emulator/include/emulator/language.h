// The words that CUDA adds to C++, for a host compiler.
//
// Static shared memory, `extern __shared__` and launches are not words but grammar: rewrite/ turns them into C++, and
// __noinline__, which standard headers use in a sense of their own.
#pragma once

#include <math.h>
#include <stdint.h>

#include <cassert>
#include <cfloat>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#ifndef ASSAYER_EMULATED
#define ASSAYER_EMULATED 1
#endif

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __shared__ _Pragma("GCC error \"this file did not go through the emulator's rewriter (see cuda/emulator/README.md)\"")

// Before a function that is there, and cannot do its work: otherwise a call is refused when it runs, with
// EMULATOR_REFUSES_EARLY when it is compiled, by file and line.
#if defined(EMULATOR_REFUSES_EARLY)
#define EMULATOR_LACKS(what) __attribute__((noinline, error("not in the emulator: " what)))
#else
#define EMULATOR_LACKS(what)
#endif

// Code of the emulator inside a kernel's file that reads other threads' records: not the kernel's own accesses, so the
// race detector must not see them.
#define EMULATOR_UNCHECKED __attribute__((no_sanitize("thread")))

#if defined(__SANITIZE_THREAD__)
#define EMULATOR_DETECTS_RACES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EMULATOR_DETECTS_RACES 1
#endif
#endif
#ifndef EMULATOR_DETECTS_RACES
#define EMULATOR_DETECTS_RACES 0
#endif

namespace emulator {

// Where in the source a thread waits.  As a default argument, `Place place = Place::here()` is the caller's line.
struct Place {
    const char* file;
    int line;
    static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

// Keeps an argument from taking part in the deduction of T: atomicAdd(float*, 1) is atomicAdd(float*, 1.0f).
template <class T> struct Same { using Type = T; };
template <class T> using Given = typename Same<T>::Type;

}  // namespace emulator

// A function's last parameter: where it was called.
#define EMULATOR_HERE ::emulator::Place place = ::emulator::Place::here()
