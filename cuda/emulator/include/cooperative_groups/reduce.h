// <cooperative_groups/reduce.h> of the emulator: reductions over a tile, whose result every lane gets.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

// Inlined, so that the operation may be a __forceinline__ function: called through a pointer it could not be.
template <unsigned Size, class Parent, class T, class Operation>
inline __attribute__((always_inline)) T reduce(const thread_block_tile<Size, Parent>& tile, T value, Operation operation,
                EMULATOR_HERE) {
    for (unsigned bits = Size / 2; bits > 0; bits /= 2) value = operation(value, tile.shfl_xor(value, bits, place));
    return value;
}

}  // namespace cooperative_groups
