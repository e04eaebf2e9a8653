/* A row or a column added to a matrix, and the sums that are their gradients. */
#include "columns.cuh"
#include "partials.cuh"
#include "rows.cuh"
#include "scratch.cuh"

namespace {

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

constexpr int ROWS_OF_TEAM = 8; /* or more, where a grid ends */

/* output = input + a number to a column (ROW) or to a row. */
template <int WIDTH, bool ROW>
__global__ void __launch_bounds__(Walk::THREADS)
    add_vector_kernel(const float* input, const float* vector, float* output, Walk walk) {
    const int64_t column = walk.pack() * WIDTH, cols = int64_t{walk.packs} * WIDTH;
    if (column >= cols) return;
    Pack<WIDTH> of_columns = {};
    if (ROW) of_columns = load_pack<WIDTH>(vector + column);
    for (int64_t row = walk.team(); row < walk.rows; row += walk.teams()) {
        Pack<WIDTH> pack = load_pack<WIDTH>(input + row * cols + column);
        const float of_row = ROW ? 0.0f : vector[row];
#pragma unroll
        for (int i = 0; i < WIDTH; i++) pack.at[i] += ROW ? of_columns.at[i] : of_row;
        store_pack<WIDTH>(output + row * cols + column, pack);
    }
}

template <bool ROW>
int32_t add_vector(const float* input, const float* vector, float* output, int rows, int cols, bool quads,
                   void* stream) {
    const Walk walk(rows, quads ? cols / 4 : cols, ceil_div(rows, ROWS_OF_TEAM));
    const cudaStream_t on = stream_of(stream);
    if (quads) add_vector_kernel<4, ROW><<<walk.blocks(), Walk::THREADS, 0, on>>>(input, vector, output, walk);
    else add_vector_kernel<1, ROW><<<walk.blocks(), Walk::THREADS, 0, on>>>(input, vector, output, walk);
    return launched();
}

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

/* The sum of each row, added to beta times what the gradient holds. */
template <typename L>
__global__ void __launch_bounds__(L::BLOCK)
    sum_rows_kernel(const float* x, float* gradient, int rows, int cols, float beta) {
    const int64_t row = L::team();
    if (row >= rows) return;
    const Parts<L> parts{cols};
    float items[L::ITEMS], sum = 0.0f;
    for (int part = 0; part < parts.count(); part++) {
        L::load(x + row * cols + parts.start(part), parts.left(part), 0.0f, items);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) sum += items[i];
    }
    sum = team_sum<L::THREADS>(sum);
    if (L::member() == 0) gradient[row] = beta == 0.0f ? sum : beta * gradient[row] + sum;
}

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

int32_t cuda_add_row(const float* input, const float* row, float* output, int rows, int cols, void* stream) {
    CHECK_ARRAY(input, rows, cols);
    CHECK_ARRAY(row, cols);
    CHECK_ARRAY(output, rows, cols);
    return add_vector<true>(input, row, output, rows, cols, rows_of_quads(cols, input, row, output), stream);
}

int32_t cuda_add_row_backward(const float* d_output, float* d_row, int rows, int cols, float beta, void* stream) {
    CHECK_ARRAY(d_output, rows, cols);
    CHECK_ARRAY(d_row, cols);
    const Scratch scratch(column_partials(rows, cols) * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    return sum_columns(d_output, scratch.as<float>(), d_row, rows, cols, beta, stream);
}

int32_t cuda_add_column(const float* input, const float* column, float* output, int rows, int cols, void* stream) {
    CHECK_ARRAY(input, rows, cols);
    CHECK_ARRAY(column, rows);
    CHECK_ARRAY(output, rows, cols);
    return add_vector<false>(input, column, output, rows, cols, rows_of_quads(cols, input, output), stream);
}

int32_t cuda_add_column_backward(const float* d_output, float* d_column, int rows, int cols, float beta, void* stream) {
    CHECK_ARRAY(d_output, rows, cols);
    CHECK_ARRAY(d_column, rows);
    return with_row_layout<1>(cols, rows_of_quads(cols, d_output), [=](auto layout) {
        using L = decltype(layout);
        sum_rows_kernel<L>
            <<<blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(d_output, d_column, rows, cols, beta);
        return launched();
    });
}
