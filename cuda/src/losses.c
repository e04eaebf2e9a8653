/* Losses against targets as many as the predictions. */
#include "check.h"
#include "simd.h"
#include "parallel.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

typedef double (*sum_of_terms)(int64_t n, const float* a, const float* b);
typedef void (*gradient)(int64_t n, const float* a, const float* b, float factor, float* d);

/* loss = the sum of the terms of n pairs, by chunks and these in order, over divisor. */
static int32_t mean_of(sum_of_terms terms, const float* a, const float* b, int64_t n, double divisor, float* loss) {
    const int64_t chunks = ceil_div(n, CHUNK);
    if (chunks == 1) {
        loss[0] = (float)(terms(n, a, b) / divisor);
        return ASSAYER_OK;
    }
    const struct scratch sums = scratch_take(chunks, sizeof(double));
    if (!sums.memory) return ASSAYER_NO_MEMORY;
    double* const parts = sums.memory;
    FOR_CHUNKS(n, at, length, parts[at / CHUNK] = terms(length, a + at, b + at))
    double total = 0;
    for (int64_t i = 0; i < chunks; i++) total += parts[i];
    loss[0] = (float)(total / divisor);
    scratch_give(sums);
    return ASSAYER_OK;
}

static int32_t each(gradient of, const float* a, const float* b, int64_t n, double factor, float* d) {
    FOR_CHUNKS(n, at, length, of(length, a + at, b + at, (float)factor, d + at))
    return ASSAYER_OK;
}

int32_t cuda_mse_forward(const float* prediction, const float* target, float* loss, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(prediction, n);
    CHECK_ARRAY(target, n);
    CHECK_ARRAY(loss, 1);
    return mean_of(simd()->squared_errors, prediction, target, n, (double)n, loss);
}

int32_t cuda_mse_backward(const float* prediction, const float* target, float* d_prediction, int64_t n, float scale, void* stream) {
    (void)stream;
    CHECK_ARRAY(prediction, n);
    CHECK_ARRAY(target, n);
    CHECK_ARRAY(d_prediction, n);
    return each(simd()->difference, prediction, target, n, 2.0 * scale / (double)n, d_prediction);
}

int32_t cuda_bce_forward(const float* probability, const float* target, float* loss, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(probability, n);
    CHECK_ARRAY(target, n);
    CHECK_ARRAY(loss, 1);
    return mean_of(simd()->binary_entropies, probability, target, n, (double)n, loss);
}

int32_t cuda_bce_backward(const float* probability, const float* target, float* d_probability, int64_t n, float scale, void* stream) {
    (void)stream;
    CHECK_ARRAY(probability, n);
    CHECK_ARRAY(target, n);
    CHECK_ARRAY(d_probability, n);
    return each(simd()->binary_entropy_backward, probability, target, n, scale / (double)n, d_probability);
}

int32_t cuda_bce_logits_forward(const float* logits, const float* target, float* loss, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(logits, n);
    CHECK_ARRAY(target, n);
    CHECK_ARRAY(loss, 1);
    return mean_of(simd()->binary_entropies_of_logits, logits, target, n, (double)n, loss);
}

int32_t cuda_bce_logits_backward(const float* logits, const float* target, float* d_logits, int64_t n, float scale, void* stream) {
    (void)stream;
    CHECK_ARRAY(logits, n);
    CHECK_ARRAY(target, n);
    CHECK_ARRAY(d_logits, n);
    return each(simd()->sigmoid_difference, logits, target, n, scale / (double)n, d_logits);
}

int32_t cuda_categorical_cross_entropy_forward(const float* probabilities, const float* labels, float* loss, int rows, int cols,
                                               void* stream) {
    (void)stream;
    CHECK_ARRAY(probabilities, rows, cols);
    CHECK_ARRAY(labels, rows, cols);
    CHECK_ARRAY(loss, 1);
    return mean_of(simd()->categorical_entropies, probabilities, labels, (int64_t)rows * cols, rows, loss);
}

int32_t cuda_categorical_cross_entropy_backward(const float* probabilities, const float* labels, float* d_probabilities, int rows,
                                                int cols, float scale, void* stream) {
    (void)stream;
    CHECK_ARRAY(probabilities, rows, cols);
    CHECK_ARRAY(labels, rows, cols);
    CHECK_ARRAY(d_probabilities, rows, cols);
    return each(simd()->categorical_entropy_backward, probabilities, labels, (int64_t)rows * cols, (double)scale / rows, d_probabilities);
}

/* A short row is filled up to whole vectors: a loop's last few exponentials, one by one, take as long as all before. */
enum { SHORT = 1024, VECTOR = 16 };

/* y = log-softmax(x / temperature).  Divided first, a row passes the largest number where the formula says so. */
static void log_softmax(const struct simd* v, int64_t cols, const float* x, float temperature, float* y) {
    float row[SHORT];
    float* const scaled = cols <= SHORT ? row : y;
    if (temperature == 1.0f) memcpy(scaled, x, (size_t)cols * sizeof(float));
    else v->divide(cols, x, temperature, scaled);
    const int64_t whole = cols <= SHORT ? round_up(cols, VECTOR) : cols;
    for (int64_t i = cols; i < whole; i++) row[i] = -INFINITY;
    const float row_max = v->maximum(whole, scaled);
    v->shift(cols, scaled, row_max, (float)log(v->exp_sum(whole, scaled, row_max)), y);
}

int32_t cuda_cross_entropy_dense_forward(const float* logits, const float* labels, float* loss, float* log_probs, int rows, int cols,
                                         float temperature, void* stream) {
    (void)stream;
    CHECK_ARRAY(logits, rows, cols);
    CHECK_ARRAY(labels, rows, cols);
    CHECK_ARRAY(loss, 1);
    CHECK_ARRAY(log_probs, rows, cols);
    CHECK(temperature > 0);
    const struct simd* const v = simd();
    const struct scratch sums = scratch_take(rows, sizeof(double));
    if (!sums.memory) return ASSAYER_NO_MEMORY;
    double* const parts = sums.memory;
    PARALLEL_FOR((int64_t)rows * cols >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        float* const y = log_probs + row * cols;
        log_softmax(v, cols, logits + row * cols, temperature, y);
        parts[row] = v->products(cols, labels + row * cols, y);
    }
    double total = 0;
    for (int64_t row = 0; row < rows; row++) total -= parts[row];
    loss[0] = (float)(total / rows);
    scratch_give(sums);
    return ASSAYER_OK;
}

int32_t cuda_cross_entropy_dense_backward(const float* log_probs, const float* labels, float* d_logits, int rows, int cols,
                                          float temperature, float scale, void* stream) {
    (void)stream;
    CHECK_ARRAY(log_probs, rows, cols);
    CHECK_ARRAY(labels, rows, cols);
    CHECK_ARRAY(d_logits, rows, cols);
    CHECK(temperature > 0);
    const struct simd* const v = simd();
    const float factor = (float)(scale / ((double)rows * temperature));
    PARALLEL_FOR((int64_t)rows * cols >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        const int64_t at = row * cols;
        v->weighted_difference(cols, log_probs + at, labels + at, (float)v->sum(cols, labels + at), factor, d_logits + at);
    }
    return ASSAYER_OK;
}
