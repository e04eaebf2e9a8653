/* Kernels over rows: a team of threads takes a row, holds a part of it in registers, and reads it once where it is no
 * longer than that. */
#ifndef ASSAYER_ROWS_CUH
#define ASSAYER_ROWS_CUH

#include "launch.cuh"
#include "reduce.cuh"
#include "vector.cuh"

/* A team of THREADS threads, a warp or a block, ITEMS elements of a row in each, which lie WIDTH by WIDTH: four of
 * float32 or eight of 16 bits where rows are whole sixteens of bytes, else one by one. */
template <int THREADS_, int ITEMS_, int WIDTH_> struct RowLayout {
    static constexpr int THREADS = THREADS_, ITEMS = ITEMS_, WIDTH = WIDTH_;
    static_assert(ITEMS % WIDTH == 0, "whole packs");
    static constexpr int TEAMS = THREADS < 128 ? 128 / THREADS : 1; /* of a block */
    static constexpr int BLOCK = THREADS * TEAMS;
    static constexpr int PART = THREADS * ITEMS; /* columns held at a time */

    static __device__ int member() { return threadIdx.x % THREADS; }
    static __device__ int64_t team() { return blockIdx.x * int64_t{TEAMS} + threadIdx.x / THREADS; }
    static __device__ int64_t teams() { return gridDim.x * int64_t{TEAMS}; }

    /* Where a thread's item stands in the part. */
    static __device__ int column(int item) { return (item / WIDTH * THREADS + member()) * WIDTH + item % WIDTH; }

    /* The items of the part that begins at `part`, of which `left` columns are in the row; `beyond` for the others. */
    template <typename T> static __device__ void load(const T* part, int left, float beyond, float (&items)[ITEMS]) {
#pragma unroll
        for (int i = 0; i < ITEMS; i += WIDTH) {
            const int at = column(i);
            const Pack<WIDTH> pack = at < left ? load_numbers<WIDTH>(part + at) : filled<WIDTH>(beyond);
#pragma unroll
            for (int j = 0; j < WIDTH; j++) items[i + j] = pack.at[j];
        }
    }

    template <typename T> static __device__ void store(T* part, int left, const float (&items)[ITEMS]) {
#pragma unroll
        for (int i = 0; i < ITEMS; i += WIDTH) {
            const int at = column(i);
            if (at >= left) continue;
            Pack<WIDTH> pack;
#pragma unroll
            for (int j = 0; j < WIDTH; j++) pack.at[j] = items[i + j];
            store_numbers<WIDTH>(part + at, pack);
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
template <int ARRAYS, int WIDTH, typename Launch> int32_t with_layout_of(int cols, const Launch& launch) {
    if constexpr (WIDTH <= 4)
        if (cols <= 128) return launch(RowLayout<32, 4, WIDTH>{});
    if (cols <= 512) return launch(RowLayout<32, 16, WIDTH>{});
    if (cols <= 1024) return launch(RowLayout<128, 8, WIDTH>{});
    if (cols <= 4096) return launch(RowLayout<256, 16, WIDTH>{});
    if constexpr (ARRAYS > 2) {
        return launch(RowLayout<512, 16, WIDTH>{});
    } else {
        if (cols <= 8192) return launch(RowLayout<1024, 8, WIDTH>{});
        return launch(RowLayout<1024, ARRAYS == 1 ? 32 : 16, WIDTH>{});
    }
}

/* T: the shortest type of the arrays whose rows they are. */
template <int ARRAYS, typename T = float, typename Launch>
int32_t with_row_layout(int cols, bool quads, const Launch& launch) {
    return quads ? with_layout_of<ARRAYS, WHOLE<T>>(cols, launch) : with_layout_of<ARRAYS, 1>(cols, launch);
}

#endif
