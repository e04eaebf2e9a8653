/* Routines that sum over a row, and those that use such a sum.  Sums of squares are taken in double: a float's square
 * may pass the largest float, and a sum over millions keeps its digits. */
#include "math.h"
#include "names.h"
#include "vec.h"

#include <math.h>
#include <string.h>

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

/* Four sums side by side, as one would wait for its last addition. */
static double squares(int64_t n, const float* x) {
    enum { SUMS = 4, STEP = SUMS * WIDE_LANES };
    wide sums[SUMS];
    double total = 0;
    int64_t i = 0;
    UNROLLED for (int j = 0; j < SUMS; j++) sums[j] = (wide){0};
    for (; i + STEP <= n; i += STEP)
        UNROLLED for (int j = 0; j < SUMS; j++) {
            const wide numbers = WIDENED(x + i + j * WIDE_LANES);
            sums[j] += numbers * numbers;
        }
    const wide all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (int lane = 0; lane < WIDE_LANES; lane++) total += ELEMENT(all, lane);
    for (; i < n; i++) total += (double)x[i] * x[i];
    return total;
}

/* A buffer may be larger than the caches: each part is asked for AHEAD of its use, because the processor's own foresight ends
 * at the page.  Half as quick again over 60 MB. */
static double sum_squares(int64_t n, const float* x) {
    enum { PART = 256, LINE = 16, AHEAD = 2048 };
    double total = 0;
    for (int64_t start = 0; start < n; start += PART) {
        for (int i = 0; i < PART; i += LINE) PREFETCH((uintptr_t)(x + start) + (AHEAD + i) * sizeof(float));
        total += squares(n - start < PART ? n - start : PART, x + start);
    }
    return total;
}

/* Infinities and what is no number have an exponent of ones, whatever mode comparisons of floats are compiled in. */
static int64_t nonfinite(int64_t n, const float* x) {
    enum { PART = 4096 };
    int64_t total = 0;
    for (int64_t start = 0; start < n; start += PART) {
        const int64_t length = n - start < PART ? n - start : PART;
        int32_t count = 0;
        for (int64_t i = 0; i < length; i++) {
            uint32_t bits;
            memcpy(&bits, x + start + i, sizeof bits);
            count += (bits & 0x7f800000u) == 0x7f800000u;
        }
        total += count;
    }
    return total;
}

/* ABREAST maxima side by side: a single one is a chain of comparisons that not every compiler may break up. */
static float maximum(int64_t n, const float* restrict x) {
    enum { ABREAST = 32 };
    float max[ABREAST];
    int64_t i = 0;
    for (int j = 0; j < ABREAST; j++) max[j] = -INFINITY;
    for (; i + ABREAST <= n; i += ABREAST)
        SIMD for (int j = 0; j < ABREAST; j++) max[j] = x[i + j] > max[j] ? x[i + j] : max[j];
    for (int j = 0; i < n; i++, j++) max[j] = x[i] > max[j] ? x[i] : max[j];
    for (int half = ABREAST / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++) max[j] = max[j + half] > max[j] ? max[j + half] : max[j];
    return max[0];
}

/* Exponentials are summed in float over blocks this long and then in double, so that no sum of floats is long. */
enum { BLOCK = 1024 };

static float exp_sum_block(int64_t n, const float* restrict x, float shift) {
    float total = 0;
    SIMD_SUM(total) for (int64_t i = 0; i < n; i++) total += exp_lane(x[i] - shift);
    return total;
}

static double exp_sum(int64_t n, const float* x, float shift) {
    double total = 0;
    for (int64_t start = 0; start < n; start += BLOCK)
        total += exp_sum_block(n - start < BLOCK ? n - start : BLOCK, x + start, shift);
    return total;
}

/* x and y may be the same array. */
static float exp_shifted_block(int64_t n, const float* x, float shift, float* y) {
    float total = 0;
    SIMD_SUM(total) for (int64_t i = 0; i < n; i++) {
        const float e = exp_lane(x[i] - shift);
        y[i] = e;
        total += e;
    }
    return total;
}

static double exp_shifted(int64_t n, const float* x, float shift, float* y) {
    double total = 0;
    for (int64_t start = 0; start < n; start += BLOCK)
        total += exp_shifted_block(n - start < BLOCK ? n - start : BLOCK, x + start, shift, y + start);
    return total;
}

/* x and y may be the same array. */
static void shift(int64_t n, const float* x, float a, float b, float* y) {
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

void NAME(fill_rows)(struct simd* table) {
    table->dot = dot;
    table->weighted_dot = weighted_dot;
    table->sum_squares = sum_squares;
    table->nonfinite = nonfinite;
    table->maximum = maximum;
    table->exp_sum = exp_sum;
    table->exp_shifted = exp_shifted;
    table->shift = shift;
    table->softmax_backward = softmax_backward;
    table->normalise = normalise;
    table->rmsnorm_backward = rmsnorm_backward;
}
