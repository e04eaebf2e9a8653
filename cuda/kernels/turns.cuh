/* Two factors whose lines take turns in a tile: so many of the first, the same of the second, and so on. */
#ifndef ASSAYER_TURNS_CUH
#define ASSAYER_TURNS_CUH

#include <cstdint>
#include <cuda_runtime.h>

/* Of a line in the tile: its place in its own factor, and whether that is the second. */
__host__ __device__ constexpr int64_t place_in_turns(int64_t line, int turn) {
    return line / (2 * turn) * turn + line % turn;
}
__host__ __device__ constexpr bool is_second(int64_t line, int turn) { return line / turn % 2 != 0; }

#endif
