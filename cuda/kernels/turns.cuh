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

/* Whether a thread that goes on by so many lines may find place and factor by adding those of its steps to those of its
 * first line: nothing carries from one to the other.  A turn of 0 lines: there is one factor alone. */
__host__ __device__ constexpr bool steps_keep_turns(int step, int turn) {
    return turn == 0 || turn % step == 0 || step % (2 * turn) == 0;
}

#endif
