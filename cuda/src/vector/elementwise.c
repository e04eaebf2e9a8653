/* Routines whose outputs depend on one element of each input.  The formulas are those of assayer.h. */
#include "math.h"
#include "names.h"

static void silu(int64_t n, const float* restrict x, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = x[i] * sigmoid_lane(x[i]);
}

static void silu_backward(int64_t n, const float* restrict x, const float* restrict dy, float* restrict dx) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const float s = sigmoid_lane(x[i]);
        dx[i] = dy[i] * s * (1.0f + x[i] * (1.0f - s));
    }
}

static void swiglu(int64_t n, const float* restrict gate, const float* restrict up, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = gate[i] * sigmoid_lane(gate[i]) * up[i];
}

static void swiglu_backward(int64_t n, const float* restrict gate, const float* restrict up, const float* restrict dy,
                            float* restrict d_gate, float* restrict d_up) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const float s = sigmoid_lane(gate[i]);
        d_gate[i] = dy[i] * up[i] * (s * (1.0f + gate[i] * (1.0f - s)));
        d_up[i] = dy[i] * (gate[i] * s);
    }
}

static void add(int64_t n, const float* restrict a, const float* restrict b, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = a[i] + b[i];
}

static void add_number(int64_t n, const float* restrict x, float number, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = x[i] + number;
}

static void mul(int64_t n, const float* restrict a, const float* restrict b, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = a[i] * b[i];
}

/* x and y may be the same array. */
static void scale(int64_t n, const float* x, float factor, float* y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = x[i] * factor;
}

/* x and y may be the same array. */
static void scale_add(int64_t n, const float* x, float factor, const float* restrict added, float* y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = factor * x[i] + added[i];
}

static void axpy(int64_t n, float factor, const float* restrict x, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] += factor * x[i];
}

static void scaled_exp(int64_t n, const float* restrict x, float factor, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = exp_lane(x[i]) * factor;
}

static void rotate(int64_t n, const float* restrict cosine, const float* restrict sine, const float* restrict x, float* restrict y) {
    SIMD for (int64_t d = 0; d < n; d++) {
        const float even = x[2 * d], odd = x[2 * d + 1];
        y[2 * d] = even * cosine[d] - odd * sine[d];
        y[2 * d + 1] = even * sine[d] + odd * cosine[d];
    }
}

void NAME(fill_elementwise)(struct simd* table) {
    table->silu = silu;
    table->silu_backward = silu_backward;
    table->swiglu = swiglu;
    table->swiglu_backward = swiglu_backward;
    table->add = add;
    table->add_number = add_number;
    table->mul = mul;
    table->scale = scale;
    table->scale_add = scale_add;
    table->axpy = axpy;
    table->scaled_exp = scaled_exp;
    table->rotate = rotate;
}
