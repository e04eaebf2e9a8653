/* Rows moved by index: a team of threads to a row, 16 bytes an access where rows allow. */
#ifndef ASSAYER_GATHER_CUH
#define ASSAYER_GATHER_CUH

#include "functions.cuh"
#include "launch.cuh"
#include "vector.cuh"

/* THREADS threads take a row; each moves WIDTH numbers at a time. */
template <int THREADS_, int WIDTH_> struct TeamLayout {
    static constexpr int THREADS = THREADS_, WIDTH = WIDTH_, BLOCK = 128, TEAMS = BLOCK / THREADS;

    static __device__ int64_t team() { return blockIdx.x * int64_t{TEAMS} + threadIdx.x / THREADS; }

    /* Where this thread's pack of a chunk of columns begins. */
    static constexpr int COLUMNS = THREADS * WIDTH;
    static __device__ int64_t column(int64_t chunk) { return chunk * COLUMNS + threadIdx.x % THREADS * WIDTH; }

    /* visit(column) for each of this thread's packs. */
    template <typename Visit> static __device__ void columns(int cols, const Visit& visit) {
        for (int64_t column = threadIdx.x % THREADS * WIDTH; column < cols; column += THREADS * WIDTH) visit(column);
    }
};

template <int WIDTH, typename Launch> int32_t with_team_of(int cols, const Launch& launch) {
    return cols <= 64 * WIDTH ? launch(TeamLayout<32, WIDTH>{}) : launch(TeamLayout<128, WIDTH>{});
}

/* Calls launch(layout) with a layout for rows of so many columns. */
template <typename T = float, typename Launch> int32_t with_team(int cols, bool quads, const Launch& launch) {
    return quads ? with_team_of<WHOLE<T>>(cols, launch) : with_team_of<1>(cols, launch);
}

/* output[i] = table[indices[i] / divisor]; NaN where the quotient is no row of the table. */
template <typename L, typename T>
__global__ void __launch_bounds__(L::BLOCK) gather_kernel(const T* table, const int32_t* indices, T* output, int64_t n,
                                                          int64_t table_rows, int divisor, int cols) {
    const int64_t i = L::team();
    if (i >= n) return;
    const int64_t row = indices[i] < 0 ? -1 : indices[i] / divisor;
    const bool there = row >= 0 && row < table_rows;
    L::columns(cols, [&](int64_t column) {
        const Pack<L::WIDTH, T> none = filled<L::WIDTH>(rounded<T>(not_a_number()));
        store_pack(output + i * cols + column, there ? load_pack<L::WIDTH>(table + row * cols + column) : none);
    });
}

template <typename T>
int32_t gather(const T* table, const int32_t* indices, T* output, int64_t n, int64_t table_rows, int divisor, int cols,
               void* stream) {
    return with_team<T>(cols, rows_of_quads(cols, table, output), [=](auto layout) {
        using L = decltype(layout);
        gather_kernel<L><<<blocks_for(n, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(table, indices, output, n,
                                                                                      table_rows, divisor, cols);
        return launched();
    });
}

#endif
