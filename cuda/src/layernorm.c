/* Layer norm.  Mean and variance are taken one after the other, over a row that is in the cache by then: the mean of squares
 * less the mean's square would hold nothing of the variance where the mean is large. */
#include "check.h"
#include "simd.h"
#include "parallel.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

int32_t cuda_layernorm(const float* input, const float* weight, const float* bias, float* output, float* mean, float* rstd, int rows,
                       int hidden_dim, float eps, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(bias, hidden_dim);
    CHECK_ARRAY(output, rows, hidden_dim);
    CHECK_ARRAY(mean, rows);
    CHECK_ARRAY(rstd, rows);
    CHECK(eps >= 0);
    const struct simd* const v = simd();
    PARALLEL_FOR((int64_t)rows * hidden_dim >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        const float* const x = input + row * hidden_dim;
        const double m = v->sum(hidden_dim, x) / hidden_dim;
        const double variance = v->deviations(hidden_dim, x, m) / hidden_dim;
        mean[row] = (float)m;
        rstd[row] = (float)(1.0 / sqrt(variance + eps));
        v->standardise(hidden_dim, x, mean[row], rstd[row], weight, bias, output + row * hidden_dim);
    }
    return ASSAYER_OK;
}

/* The rows are cut into at most this many blocks, whatever the number of threads; each sums its own d_weight and d_bias. */
enum { ROW_BLOCKS = 32 };

struct backward {
    const float *x, *weight, *mean, *rstd, *d_output;
    float* d_input;
    int64_t rows, n;
};

/* sums: d_weight, and behind it d_bias, of the rows of one block. */
static void backward_block(const struct simd* v, const struct backward* b, int64_t block, int64_t block_rows, float* sums) {
    memset(sums, 0, 2 * (size_t)b->n * sizeof(float));
    for (int64_t row = block * block_rows; row < min64((block + 1) * block_rows, b->rows); row++) {
        const float *const x = b->x + row * b->n, *const dy = b->d_output + row * b->n;
        const struct norm_row norm = {b->mean[row], b->rstd[row], b->n};
        v->layernorm_backward(norm, x, b->weight, dy, b->d_input + row * b->n, sums, sums + b->n);
    }
}

static void store(const struct simd* v, int64_t n, const float* sum, float beta, float* gradient) {
    if (beta == 0) {
        memcpy(gradient, sum, (size_t)n * sizeof(float));
    } else {
        v->scale(n, gradient, beta, gradient);
        v->axpy(n, 1.0f, sum, gradient);
    }
}

int32_t cuda_layernorm_backward(const float* input, const float* weight, const float* mean, const float* rstd, const float* d_output,
                                float* d_input, float* d_weight, float* d_bias, int rows, int hidden_dim, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(mean, rows);
    CHECK_ARRAY(rstd, rows);
    CHECK_ARRAY(d_output, rows, hidden_dim);
    CHECK_ARRAY(d_input, rows, hidden_dim);
    CHECK_ARRAY(d_weight, hidden_dim);
    CHECK_ARRAY(d_bias, hidden_dim);
    const int64_t n = hidden_dim, block_rows = ceil_div(rows, ROW_BLOCKS), blocks = ceil_div(rows, block_rows);
    const struct scratch scratch = scratch_take(2 * n, blocks * (int64_t)sizeof(float));
    if (!scratch.memory) {
        scratch_give(scratch);
        return ASSAYER_NO_MEMORY;
    }
    float* const parts = scratch.memory;
    const struct backward b = {input, weight, mean, rstd, d_output, d_input, rows, n};
    const struct simd* const v = simd();
    PARALLEL_FOR(rows * n >= SERIAL_BELOW)
    for (int64_t block = 0; block < blocks; block++) backward_block(v, &b, block, block_rows, parts + block * 2 * n);
    for (int64_t block = 1; block < blocks; block++) v->axpy(2 * n, 1.0f, parts + block * 2 * n, parts);
    store(v, n, parts, beta, d_weight);
    store(v, n, parts + n, beta, d_bias);
    scratch_give(scratch);
    return ASSAYER_OK;
}
