/* Sums over the rows of a matrix. */
#include "columns.cuh"
#include "partials.cuh"
#include "vector.cuh"
#include "walk.cuh"

namespace {

/* Each team's sums over the rows that it goes down, in its row of partials. */
template <int WIDTH>
__global__ void __launch_bounds__(Walk::THREADS) sum_columns_kernel(const float* x, float* partials, Walk walk) {
    const int64_t column = walk.pack() * WIDTH, cols = int64_t{walk.packs} * WIDTH;
    if (column >= cols) return;
    Pack<WIDTH> sums = {};
    for (int64_t row = walk.team(); row < walk.rows; row += walk.teams()) {
        const Pack<WIDTH> pack = load_pack<WIDTH>(x + row * cols + column);
#pragma unroll
        for (int i = 0; i < WIDTH; i++) sums.at[i] += pack.at[i];
    }
    store_pack<WIDTH>(partials + walk.team() * cols + column, sums);
}

/* Teams of some 32 rows, as many whatever the device. */
Walk summing(int rows, int packs) { return Walk(rows, packs, min64(ceil_div(rows, 32), TEAMS_AT_MOST)); }

} // namespace

int64_t column_partials(int rows, int cols) {
    const int teams = summing(rows, cols).teams(),
              of_quads = summing(rows, static_cast<int>(ceil_div(cols, 4))).teams();
    return int64_t{cols} * (teams > of_quads ? teams : of_quads);
}

int32_t sum_columns(const float* x, float* partials, float* sums, int rows, int cols, float beta, void* stream) {
    const bool quads = rows_of_quads(cols, x, partials);
    const Walk walk = summing(rows, quads ? cols / 4 : cols);
    const cudaStream_t on = stream_of(stream);
    if (quads) sum_columns_kernel<4><<<walk.blocks(), Walk::THREADS, 0, on>>>(x, partials, walk);
    else sum_columns_kernel<1><<<walk.blocks(), Walk::THREADS, 0, on>>>(x, partials, walk);
    TRY(launched());
    return sum_partials(partials, sums, walk.teams(), cols, beta, stream);
}
