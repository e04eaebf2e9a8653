/* Kernels over rows: a team of threads takes a row, holds a part of it in registers, and reads it once where it is no
 * longer than that. */
#ifndef ASSAYER_ROWS_CUH
#define ASSAYER_ROWS_CUH

#include "launch.cuh"
#include "reduce.cuh"
#include "vector.cuh"

/* A team of THREADS threads, a warp or a block, ITEMS elements of a row in each.  QUADS: the elements of a thread lie
 * four by four. */
template <int THREADS_, int ITEMS_, bool QUADS_> struct RowLayout {
    static constexpr int THREADS = THREADS_, ITEMS = ITEMS_;
    static constexpr bool QUADS = QUADS_;
    static constexpr int TEAMS = THREADS < 128 ? 128 / THREADS : 1; /* of a block */
    static constexpr int BLOCK = THREADS * TEAMS;
    static constexpr int PART = THREADS * ITEMS; /* columns held at a time */

    static __device__ int member() { return threadIdx.x % THREADS; }
    static __device__ int64_t team() { return blockIdx.x * int64_t{TEAMS} + threadIdx.x / THREADS; }
    static __device__ int64_t teams() { return gridDim.x * int64_t{TEAMS}; }

    /* Where a thread's item stands in the part. */
    static __device__ int column(int item) {
        return QUADS ? (item / 4 * THREADS + member()) * 4 + item % 4 : item * THREADS + member();
    }

    /* The items of the part that begins at `part`, of which `left` columns are in the row; `beyond` for the others. */
    static __device__ void load(const float* part, int left, float beyond, float (&items)[ITEMS]) {
#pragma unroll
        for (int i = 0; i < ITEMS; i += QUADS ? 4 : 1) {
            const int at = column(i);
            if constexpr (QUADS) {
                const Quad quad = at < left ? load_quad(part + at) : Quad{{beyond, beyond, beyond, beyond}};
#pragma unroll
                for (int j = 0; j < 4; j++) items[i + j] = quad.at[j];
            } else {
                items[i] = at < left ? part[at] : beyond;
            }
        }
    }

    static __device__ void store(float* part, int left, const float (&items)[ITEMS]) {
#pragma unroll
        for (int i = 0; i < ITEMS; i += QUADS ? 4 : 1) {
            const int at = column(i);
            if (at >= left) continue;
            if constexpr (QUADS) store_quad(part + at, {{items[i], items[i + 1], items[i + 2], items[i + 3]}});
            else part[at] = items[i];
        }
    }
};

/* Walks a row by parts, the last of them last, and then back: what is still in registers is not read again. */
template <typename L> struct Parts {
    int cols;
    __device__ int count() const { return static_cast<int>(ceil_div(cols, L::PART)); }
    __device__ int64_t start(int part) const { return int64_t{part} * L::PART; }
    __device__ int left(int part) const { return static_cast<int>(min64(L::PART, cols - start(part))); }
};

/* Calls launch(layout) with the layout for rows of this length, of which a kernel holds ARRAYS at a time: the longest
 * part is what the registers have room for. */
template <int ARRAYS, bool QUADS, typename Launch> int32_t with_layout_of(int cols, const Launch& launch) {
    if (cols <= 128) return launch(RowLayout<32, 4, QUADS>{});
    if (cols <= 512) return launch(RowLayout<32, 16, QUADS>{});
    if (cols <= 1024) return launch(RowLayout<128, 8, QUADS>{});
    if (cols <= 4096) return launch(RowLayout<256, 16, QUADS>{});
    if constexpr (ARRAYS > 2) {
        return launch(RowLayout<512, 16, QUADS>{});
    } else {
        if (cols <= 8192) return launch(RowLayout<1024, 8, QUADS>{});
        return launch(RowLayout<1024, ARRAYS == 1 ? 32 : 16, QUADS>{});
    }
}

template <int ARRAYS, typename Launch> int32_t with_row_layout(int cols, bool quads, const Launch& launch) {
    return quads ? with_layout_of<ARRAYS, true>(cols, launch) : with_layout_of<ARRAYS, false>(cols, launch);
}

#endif
