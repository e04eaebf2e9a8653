/* A row or a column added to a matrix, and the sums that are their gradients. */
#include "check.h"
#include "columns.h"
#include "parallel.h"
#include "simd.h"

int32_t cuda_add_row(const float* input, const float* row, float* output, int rows, int cols, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, cols);
    CHECK_ARRAY(row, cols);
    CHECK_ARRAY(output, rows, cols);
    const struct simd* const v = simd();
    const int64_t across = ceil_div(cols, CHUNK);
    PARALLEL_FOR((int64_t)rows * cols >= SERIAL_BELOW)
    for (int64_t task = 0; task < rows * across; task++) {
        const int64_t column = task % across * CHUNK, at = task / across * cols + column;
        v->add(min64(CHUNK, cols - column), input + at, row + column, output + at);
    }
    return ASSAYER_OK;
}

int32_t cuda_add_column(const float* input, const float* column, float* output, int rows, int cols, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, cols);
    CHECK_ARRAY(column, rows);
    CHECK_ARRAY(output, rows, cols);
    const struct simd* const v = simd();
    const int64_t across = ceil_div(cols, CHUNK);
    PARALLEL_FOR((int64_t)rows * cols >= SERIAL_BELOW)
    for (int64_t task = 0; task < rows * across; task++) {
        const int64_t row = task / across, first = task % across * CHUNK, at = row * cols + first;
        v->add_number(min64(CHUNK, cols - first), input + at, column[row], output + at);
    }
    return ASSAYER_OK;
}

/* Columns are summed PARTS at a time or fewer, in groups and, where they are few, in blocks of rows, whatever the number of
 * threads: a task sums one group in one block, in double. */
enum { PARTS = 8192, GROUP = 256, MOST_BLOCKS = 32, LEAST_ROWS = 16 };

static void sum_part(const float* x, int64_t rows, int64_t row_length, int64_t cols, float beta, float* sums) {
    double parts[PARTS];
    const int64_t most = max64(1, min64(MOST_BLOCKS, PARTS / cols));
    const int64_t block_rows = max64(LEAST_ROWS, ceil_div(rows, most)), blocks = ceil_div(rows, block_rows), groups = ceil_div(cols, GROUP);
    const struct simd* const v = simd();
    PARALLEL_FOR(rows * cols >= SERIAL_BELOW)
    for (int64_t task = 0; task < blocks * groups; task++) {
        const int64_t block = task / groups, first = task % groups * GROUP, n = min64(GROUP, cols - first);
        double* const part = parts + block * cols + first;
        for (int64_t i = 0; i < n; i++) part[i] = 0;
        for (int64_t row = block * block_rows; row < min64((block + 1) * block_rows, rows); row++)
            v->add_columns(n, x + row * row_length + first, part);
    }
    for (int64_t c = 0; c < cols; c++) {
        double sum = 0;
        for (int64_t block = 0; block < blocks; block++) sum += parts[block * cols + c];
        sums[c] = (float)(beta == 0 ? sum : sum + (double)beta * sums[c]);
    }
}

void sum_columns(const float* x, int64_t rows, int64_t cols, float beta, float* sums) {
    for (int64_t first = 0; first < cols; first += PARTS) sum_part(x + first, rows, cols, min64(PARTS, cols - first), beta, sums + first);
}

int32_t cuda_add_row_backward(const float* d_output, float* d_row, int rows, int cols, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(d_output, rows, cols);
    CHECK_ARRAY(d_row, cols);
    sum_columns(d_output, rows, cols, beta, d_row);
    return ASSAYER_OK;
}

int32_t cuda_add_column_backward(const float* d_output, float* d_column, int rows, int cols, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(d_output, rows, cols);
    CHECK_ARRAY(d_column, rows);
    const struct simd* const v = simd();
    PARALLEL_FOR((int64_t)rows * cols >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        const double sum = v->sum(cols, d_output + row * cols);
        d_column[row] = (float)(beta == 0 ? sum : sum + (double)beta * d_column[row]);
    }
    return ASSAYER_OK;
}
