/* Root-mean-square normalisation.  The mean of squares is taken in double: it may pass the largest float. */
#include "norm.h"
#include "check.h"
#include "parallel.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

static float root_of_row(const struct simd* v, int64_t n, const float* x, float eps) {
    return (float)inverse_root(v->dot(n, x, x), n, eps);
}

int32_t cuda_rmsnorm(const float* input, const float* weight, float* output, int rows, int hidden_dim, float eps, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(output, rows, hidden_dim);
    CHECK(eps >= 0);
    const struct simd* const v = simd();
    PARALLEL_FOR((int64_t)rows * hidden_dim >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        const float* const x = input + row * hidden_dim;
        v->normalise(hidden_dim, x, root_of_row(v, hidden_dim, x, eps), weight, output + row * hidden_dim);
    }
    return ASSAYER_OK;
}

int32_t cuda_rmsnorm_residual(const float* input, const float* residual, const float* weight, float* output, float* residual_out,
                              int rows, int hidden_dim, float eps, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(residual, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(output, rows, hidden_dim);
    CHECK_ARRAY(residual_out, rows, hidden_dim);
    CHECK(eps >= 0);
    const struct simd* const v = simd();
    PARALLEL_FOR((int64_t)rows * hidden_dim >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        float* const s = residual_out + row * hidden_dim;
        v->add(hidden_dim, input + row * hidden_dim, residual + row * hidden_dim, s);
        v->normalise(hidden_dim, s, root_of_row(v, hidden_dim, s, eps), weight, output + row * hidden_dim);
    }
    return ASSAYER_OK;
}

/* The rows are cut into at most this many blocks, whatever the number of threads; each sums its own d_weight. */
enum { ROW_BLOCKS = 32 };

/* A row in 16 bits. */
static void half_row(const struct rmsnorm_gradient* b, int64_t row, float* d_weight) {
    const struct half_gradient* const h = b->half;
    const uint16_t *x = h->x + row * b->n, *dy = h->d_output + row * b->n;
    const double r = inverse_root(h->v->dot(b->n, x, x), b->n, b->eps);
    const double c = r * r * (h->v->weighted_dot(b->n, dy, b->weight, x) / (double)b->n);
    h->v->rmsnorm_backward(b->n, x, b->weight, dy, (float)r, (float)c, h->base ? h->base + row * b->n : NULL, h->d_input + row * b->n,
                           d_weight);
}

static void backward_block(const struct simd* v, const struct rmsnorm_gradient* b, int64_t block, int64_t block_rows, float* d_weight) {
    memset(d_weight, 0, (size_t)b->n * sizeof(float));
    for (int64_t row = block * block_rows; row < min64((block + 1) * block_rows, b->rows); row++) {
        if (b->half) {
            half_row(b, row, d_weight);
            continue;
        }
        const float *x = b->x + row * b->n, *dy = b->d_output + row * b->n;
        const double r = inverse_root(v->dot(b->n, x, x), b->n, b->eps);
        const double c = r * r * (v->weighted_dot(b->n, dy, b->weight, x) / (double)b->n);
        v->rmsnorm_backward(b->n, x, b->weight, dy, (float)r, (float)c, b->base ? b->base + row * b->n : NULL,
                            b->d_input + row * b->n, d_weight);
    }
}

int32_t rmsnorm_gradient(const struct rmsnorm_gradient* b) {
    const int64_t block_rows = ceil_div(b->rows, ROW_BLOCKS), blocks = ceil_div(b->rows, block_rows), n = b->n;
    const struct scratch scratch = scratch_take(n, blocks * (int64_t)sizeof(float));
    if (!scratch.memory) {
        scratch_give(scratch);
        return ASSAYER_NO_MEMORY;
    }
    float* const parts = scratch.memory;
    const struct simd* const v = simd();
    PARALLEL_FOR(b->rows * n >= SERIAL_BELOW)
    for (int64_t block = 0; block < blocks; block++) backward_block(v, b, block, block_rows, parts + block * n);
    for (int64_t block = 1; block < blocks; block++) v->axpy(n, 1.0f, parts + block * n, parts);
    if (b->beta == 0) {
        memcpy(b->d_weight, parts, (size_t)n * sizeof(float));
    } else {
        v->scale(n, b->d_weight, b->beta, b->d_weight);
        v->axpy(n, 1.0f, parts, b->d_weight);
    }
    scratch_give(scratch);
    return ASSAYER_OK;
}

int32_t cuda_rmsnorm_backward(const float* input, const float* weight, const float* d_output, float* d_input, float* d_weight,
                              int rows, int hidden_dim, float eps, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(d_output, rows, hidden_dim);
    CHECK_ARRAY(d_input, rows, hidden_dim);
    CHECK_ARRAY(d_weight, hidden_dim);
    CHECK(eps >= 0);
    return rmsnorm_gradient(&(struct rmsnorm_gradient){input, weight, d_output, NULL, d_input, d_weight, rows, hidden_dim, eps, beta, NULL});
}

int32_t cuda_rmsnorm_residual_backward(const float* residual_out, const float* weight, const float* d_output,
                                       const float* d_residual_out, float* d_input, float* d_weight, int rows, int hidden_dim,
                                       float eps, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(residual_out, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(d_output, rows, hidden_dim);
    CHECK_ARRAY(d_residual_out, rows, hidden_dim);
    CHECK_ARRAY(d_input, rows, hidden_dim);
    CHECK_ARRAY(d_weight, hidden_dim);
    CHECK(eps >= 0);
    return rmsnorm_gradient(&(struct rmsnorm_gradient){residual_out, weight, d_output, d_residual_out, d_input, d_weight, rows,
                                                       hidden_dim, eps, beta, NULL});
}
