/* Routines that sum over a row, and those that use such a sum.  Sums of squares are taken in double: a float's square
 * may pass the largest float, and a sum over millions keeps its digits. */
#include "math.h"
#include "names.h"

#include <math.h>

static double dot(int64_t n, const float* restrict x, const float* restrict y) {
    double total = 0;
    SIMD_SUM(total) for (int64_t i = 0; i < n; i++) total += (double)x[i] * y[i];
    return total;
}

static double weighted_dot(int64_t n, const float* restrict x, const float* restrict weight, const float* restrict y) {
    double total = 0;
    SIMD_SUM(total) for (int64_t i = 0; i < n; i++) total += (double)(x[i] * weight[i]) * y[i];
    return total;
}

static double sum(int64_t n, const float* restrict x) {
    double total = 0;
    SIMD_SUM(total) for (int64_t i = 0; i < n; i++) total += x[i];
    return total;
}

static float maximum(int64_t n, const float* restrict x) {
    float most = -INFINITY;
    SIMD_MAX(most) for (int64_t i = 0; i < n; i++) most = x[i] > most ? x[i] : most;
    return most;
}

static float exp_sum(int64_t n, const float* restrict x, float shift) {
    float total = 0;
    SIMD_SUM(total) for (int64_t i = 0; i < n; i++) total += exp_lane(x[i] - shift);
    return total;
}

static float exp_shifted(int64_t n, const float* x, float shift, float* y) {
    float total = 0;
    SIMD_SUM(total) for (int64_t i = 0; i < n; i++) {
        const float e = exp_lane(x[i] - shift);
        y[i] = e;
        total += e;
    }
    return total;
}

static void shift(int64_t n, const float* restrict x, float a, float b, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = (x[i] - a) - b;
}

/* dx = factor * y * (dy - inner). */
static void softmax_backward(int64_t n, const float* y, const float* dy, float inner, float factor, float* dx) {
    SIMD for (int64_t i = 0; i < n; i++) dx[i] = factor * (y[i] * (dy[i] - inner));
}

static void normalise(int64_t n, const float* restrict x, float r, const float* restrict weight, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = x[i] * r * weight[i];
}

/* dx = base + r * (dy * weight - x * c), base null for none; dw += dy * x * r. */
static void rmsnorm_backward(int64_t n, const float* restrict x, const float* restrict weight, const float* restrict dy, float r,
                             float c, const float* restrict base, float* restrict dx, float* restrict dw) {
    if (base) {
        SIMD for (int64_t i = 0; i < n; i++) dx[i] = base[i] + r * (dy[i] * weight[i] - x[i] * c);
    } else {
        SIMD for (int64_t i = 0; i < n; i++) dx[i] = r * (dy[i] * weight[i] - x[i] * c);
    }
    SIMD for (int64_t i = 0; i < n; i++) dw[i] += dy[i] * (x[i] * r);
}

void NAME(fill_rows)(struct lanes* table) {
    table->dot = dot;
    table->weighted_dot = weighted_dot;
    table->sum = sum;
    table->maximum = maximum;
    table->exp_sum = exp_sum;
    table->exp_shifted = exp_shifted;
    table->shift = shift;
    table->softmax_backward = softmax_backward;
    table->normalise = normalise;
    table->rmsnorm_backward = rmsnorm_backward;
}
