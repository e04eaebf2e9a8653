/* A row or a column added to a matrix, and the sums that are their gradients. */
#include "columns.cuh"
#include "rows.cuh"
#include "scratch.cuh"
#include "walk.cuh"

namespace {

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
