/* Losses against targets as many as the predictions, and their gradients.  The formulas are those of assayer.h.
 *
 * Terms are summed in float over blocks, and the blocks in double, so that no sum of floats is long. */
#include "math.h"
#include "names.h"

#include <math.h>

enum { BLOCK = 1024 };

static const float LOWEST_LOG = -100.0f, SMALLEST = 1e-12f;

/* The logarithm, at least -100; a NaN stays. */
static inline float bounded_log(float p) {
    const float x = log_lane(p);
    return x < LOWEST_LOG ? LOWEST_LOG : x;
}

static inline float at_least_smallest(float x) { return x < SMALLEST ? SMALLEST : x; }

static inline float squared_error(float p, float t) { return (p - t) * (p - t); }

static inline float binary_entropy(float p, float t) {
    return -(t * bounded_log(p) + (1.0f - t) * bounded_log(1.0f - p));
}

static inline float binary_entropy_of_logit(float x, float t) {
    return (x > 0.0f ? x : 0.0f) - x * t + log_lane(1.0f + exp_lane(-fabsf(x)));
}

static inline float categorical_entropy(float p, float label) { return -label * bounded_log(p); }

static inline float product(float a, float b) { return a * b; }

#define SUM_OF(name, term)                                                                                             \
    static float name##_block(int64_t n, const float* restrict a, const float* restrict b) {                           \
        float total = 0;                                                                                               \
        SIMD_SUM(total) for (int64_t i = 0; i < n; i++) total += term(a[i], b[i]);                                     \
        return total;                                                                                                  \
    }                                                                                                                  \
    static double name(int64_t n, const float* a, const float* b) {                                                    \
        double total = 0;                                                                                              \
        for (int64_t at = 0; at < n; at += BLOCK)                                                                      \
            total += name##_block(n - at < BLOCK ? n - at : BLOCK, a + at, b + at);                                    \
        return total;                                                                                                  \
    }
SUM_OF(squared_errors, squared_error)
SUM_OF(binary_entropies, binary_entropy)
SUM_OF(binary_entropies_of_logits, binary_entropy_of_logit)
SUM_OF(categorical_entropies, categorical_entropy)
SUM_OF(products, product)

static void difference(int64_t n, const float* restrict a, const float* restrict b, float factor, float* restrict d) {
    SIMD for (int64_t i = 0; i < n; i++) d[i] = (a[i] - b[i]) * factor;
}

static void binary_entropy_backward(int64_t n, const float* restrict p, const float* restrict t, float factor, float* restrict d) {
    SIMD for (int64_t i = 0; i < n; i++) d[i] = (p[i] - t[i]) / at_least_smallest(p[i] * (1.0f - p[i])) * factor;
}

static void sigmoid_difference(int64_t n, const float* restrict x, const float* restrict t, float factor, float* restrict d) {
    SIMD for (int64_t i = 0; i < n; i++) d[i] = (sigmoid_lane(x[i]) - t[i]) * factor;
}

static void categorical_entropy_backward(int64_t n, const float* restrict p, const float* restrict label, float factor,
                                         float* restrict d) {
    SIMD for (int64_t i = 0; i < n; i++) d[i] = -label[i] / at_least_smallest(p[i]) * factor;
}

static void divide(int64_t n, const float* restrict x, float divisor, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = x[i] / divisor;
}

/* d = (exp(x) * whole - label) * factor. */
static void weighted_difference(int64_t n, const float* restrict x, const float* restrict label, float whole, float factor,
                                float* restrict d) {
    SIMD for (int64_t i = 0; i < n; i++) d[i] = (exp_lane(x[i]) * whole - label[i]) * factor;
}

void NAME(fill_losses)(struct simd* table) {
    table->squared_errors = squared_errors;
    table->binary_entropies = binary_entropies;
    table->binary_entropies_of_logits = binary_entropies_of_logits;
    table->categorical_entropies = categorical_entropies;
    table->products = products;
    table->difference = difference;
    table->binary_entropy_backward = binary_entropy_backward;
    table->sigmoid_difference = sigmoid_difference;
    table->categorical_entropy_backward = categorical_entropy_backward;
    table->divide = divide;
    table->weighted_difference = weighted_difference;
}
