/* Softmax, and the router's softmax over the chosen experts. */
#include "softmax.h"
#include "check.h"
#include "order.h"
#include "parallel.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

/* Short rows are shared out by so many. */
static int64_t rows_of_task(int cols) { return cols <= SHORT_ROW ? 64 : 1; }

static void softmax_rows(const struct simd* v, int64_t rows, int cols, const float* x, float* y) {
    if (v->softmax_short(rows, cols, x, y)) return;
    for (int64_t row = 0; row < rows; row++, x += cols, y += cols) {
        const double total = v->exp_shifted(cols, x, v->maximum(cols, x), y);
        v->scale(cols, y, (float)(1 / total), y);
    }
}

int32_t cuda_softmax(const float* input, float* output, int rows, int cols, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, cols);
    CHECK_ARRAY(output, rows, cols);
    const struct simd* const v = simd();
    const int64_t each = rows_of_task(cols);
    PARALLEL_FOR((int64_t)rows * cols >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row += each)
        softmax_rows(v, min64(each, rows - row), cols, input + row * cols, output + row * cols);
    return ASSAYER_OK;
}

static void softmax_rows_backward(const struct simd* v, int64_t rows, int cols, const float* y, const float* dy, float* dx) {
    if (v->softmax_short_backward(rows, cols, y, dy, dx)) return;
    for (int64_t row = 0; row < rows; row++, y += cols, dy += cols, dx += cols)
        v->softmax_backward(cols, y, dy, (float)v->dot(cols, y, dy), 1.0f, dx);
}

int32_t cuda_softmax_backward(const float* output, const float* d_output, float* d_input, int rows, int cols, void* stream) {
    (void)stream;
    CHECK_ARRAY(output, rows, cols);
    CHECK_ARRAY(d_output, rows, cols);
    CHECK_ARRAY(d_input, rows, cols);
    const struct simd* const v = simd();
    const int64_t each = rows_of_task(cols);
    PARALLEL_FOR((int64_t)rows * cols >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row += each) {
        const int64_t at = row * cols;
        softmax_rows_backward(v, min64(each, rows - row), cols, output + at, d_output + at, d_input + at);
    }
    return ASSAYER_OK;
}

/* The renormalised probabilities of the chosen are a softmax over their logits.  Where that is NaN (a NaN or an infinity in
 * the row), every probability is, and of equal ones the first are the largest. */
static void renormalise(const struct simd* v, const float* row, int32_t* chosen, int k, float* weights) {
    for (int j = 0; j < k; j++) weights[j] = row[chosen[j]];
    v->scale(k, weights, (float)(1 / v->exp_shifted(k, weights, weights[0], weights)), weights);
    for (int j = 0; isnan(weights[0]) && j < k; j++) chosen[j] = j;
}

void softmax_topk_row(const struct simd* v, const float* x, int cols, int k, float* weights, int32_t* chosen, uint32_t* memory) {
    largest(x, cols, k, chosen, memory);
    renormalise(v, x, chosen, k, weights);
}

int32_t cuda_softmax_topk(const float* input, float* weights, int32_t* indices, int rows, int cols, int k, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, cols);
    CHECK_ARRAY(weights, rows, k);
    CHECK_ARRAY(indices, rows, k);
    CHECK(k >= 1 && k <= cols);
    const int64_t each = order_memory(cols, k);
    const struct scratch scratch = scratch_take(each * thread_count(), sizeof(uint32_t));
    if (scratch.memory) {
        const struct simd* const v = simd();
        PARALLEL_FOR((int64_t)rows * cols >= SERIAL_BELOW)
        for (int64_t row = 0; row < rows; row++)
            softmax_topk_row(v, input + row * cols, cols, k, weights + row * k, indices + row * k,
                             (uint32_t*)scratch.memory + each * thread_index());
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

void softmax_topk_row_backward(const struct simd* v, const float* w, const int32_t* chosen, const float* dw, int cols, int k,
                               float* dx) {
    const float inner = (float)v->dot(k, w, dw);
    memset(dx, 0, (size_t)cols * sizeof(float));
    for (int j = 0; j < k; j++) dx[chosen[j]] = w[j] * (dw[j] - inner);
}

int32_t cuda_softmax_topk_backward(const float* weights, const int32_t* indices, const float* d_weights, float* d_input, int rows,
                                   int cols, int k, void* stream) {
    (void)stream;
    CHECK_ARRAY(weights, rows, k);
    CHECK_ARRAY(indices, rows, k);
    CHECK_ARRAY(d_weights, rows, k);
    CHECK_ARRAY(d_input, rows, cols);
    CHECK(k <= cols);
    CHECK(all_within(indices, (int64_t)rows * k, 0, cols));
    const struct simd* const v = simd();
    PARALLEL_FOR((int64_t)rows * cols >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++)
        softmax_topk_row_backward(v, weights + row * k, indices + row * k, d_weights + row * k, cols, k, d_input + row * cols);
    return ASSAYER_OK;
}
