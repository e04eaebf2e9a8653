/* Kernels in which a thread keeps to its columns and goes down the rows of a matrix. */
#ifndef ASSAYER_WALK_CUH
#define ASSAYER_WALK_CUH

#include "launch.cuh"

/* Threads of a block stand side by side along a row, as many as it has packs of columns but a power of two, and the
 * others below them: each keeps to its columns and goes down the rows. */
struct Walk {
    static constexpr int THREADS = 256;
    int rows, packs; /* of a row */
    int side;        /* threads side by side */
    int groups;      /* of blocks, one below the other */

    Walk(int rows, int packs, int64_t most_teams) : rows(rows), packs(packs), side(1) {
        while (side < THREADS && side < packs) side *= 2;
        const int64_t high = ceil_div(most_teams, THREADS / side);
        groups = static_cast<int>(min64(high, INT32_MAX / ceil_div(packs, side)));
    }
    __host__ __device__ int64_t across() const { return ceil_div(packs, side); }
    __host__ __device__ int teams() const { return groups * (THREADS / side); } /* that go down the same columns */
    unsigned blocks() const { return blocks_for(across() * groups, 1); }
    __device__ int64_t pack() const { return blockIdx.x % across() * side + threadIdx.x % side; }
    __device__ int team() const {
        return static_cast<int>(blockIdx.x / across()) * (THREADS / side) + static_cast<int>(threadIdx.x) / side;
    }
};

#endif
