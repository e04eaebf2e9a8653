/* One step of a recurrent layer for one sample: what stands between the products.  The formulas are those of assayer.h. */
#include "math.h"
#include "names.h"

static void tanh_step(int64_t n, const float* restrict bias, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = tanh_lane(y[i] + bias[i]);
}

static void relu_step(int64_t n, const float* restrict bias, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const float x = y[i] + bias[i];
        y[i] = x <= 0.0f ? 0.0f : x;
    }
}

static void tanh_step_backward(int64_t n, const float* restrict y, const float* restrict dy, const float* restrict carried,
                               float* restrict d_pre) {
    SIMD for (int64_t i = 0; i < n; i++) d_pre[i] = (dy[i] + carried[i]) * (1.0f - y[i] * y[i]);
}

static void relu_step_backward(int64_t n, const float* restrict y, const float* restrict dy, const float* restrict carried,
                               float* restrict d_pre) {
    SIMD for (int64_t i = 0; i < n; i++) d_pre[i] = y[i] <= 0.0f ? 0.0f : dy[i] + carried[i];
}

static void lstm_step(int64_t n, const float* restrict bias, const float* restrict before, float* restrict gates,
                      float* restrict cells, float* restrict y) {
    float *const i = gates, *const f = gates + n, *const g = gates + 2 * n, *const o = gates + 3 * n;
    SIMD for (int64_t k = 0; k < n; k++) {
        i[k] = sigmoid_lane(i[k] + bias[k]);
        f[k] = sigmoid_lane(f[k] + bias[n + k]);
        g[k] = tanh_lane(g[k] + bias[2 * n + k]);
        o[k] = sigmoid_lane(o[k] + bias[3 * n + k]);
        cells[k] = f[k] * before[k] + i[k] * g[k];
        y[k] = o[k] * tanh_lane(cells[k]);
    }
}

/* d_h: what came back from the step after it; d_c: likewise, and then what goes back from this one. */
static void lstm_step_backward(int64_t n, const struct lstm_step* at, const float* restrict d_h, float* restrict d_c,
                               float* restrict d_pre) {
    const float *restrict const i = at->gates, *restrict const f = i + n, *restrict const g = f + n, *restrict const o = g + n;
    const float *restrict const cells = at->cells, *restrict const before = at->before, *restrict const dy = at->dy;
    SIMD for (int64_t k = 0; k < n; k++) {
        const float t = tanh_lane(cells[k]), d_y = dy[k] + d_h[k];
        const float d = d_y * o[k] * (1.0f - t * t) + d_c[k];
        d_pre[k] = d * g[k] * (i[k] * (1.0f - i[k]));
        d_pre[n + k] = d * before[k] * (f[k] * (1.0f - f[k]));
        d_pre[2 * n + k] = d * i[k] * (1.0f - g[k] * g[k]);
        d_pre[3 * n + k] = d_y * t * (o[k] * (1.0f - o[k]));
        d_c[k] = d * f[k];
    }
}

/* gates holds w_x . x in its first three quarters, of_h is w_h . h. */
static void gru_step(int64_t n, const float* restrict b_x, const float* restrict b_h, const float* restrict of_h,
                     const float* restrict before, float* restrict gates, float* restrict y) {
    float *const r = gates, *const z = gates + n, *const candidate = gates + 2 * n, *const h_n = gates + 3 * n;
    SIMD for (int64_t k = 0; k < n; k++) {
        r[k] = sigmoid_lane((r[k] + b_x[k]) + (of_h[k] + b_h[k]));
        z[k] = sigmoid_lane((z[k] + b_x[n + k]) + (of_h[n + k] + b_h[n + k]));
        h_n[k] = of_h[2 * n + k] + b_h[2 * n + k];
        candidate[k] = tanh_lane(candidate[k] + b_x[2 * n + k] + r[k] * h_n[k]);
        y[k] = (1.0f - z[k]) * candidate[k] + z[k] * before[k];
    }
}

/* d_h: what came back from the step after it, and then what goes back past the weights. */
static void gru_step_backward(int64_t n, const struct gru_step* at, float* restrict d_h, float* restrict d_pre_x,
                              float* restrict d_pre_h) {
    const float *restrict const r = at->gates, *restrict const z = r + n, *restrict const candidate = z + n, *restrict const h_n = candidate + n;
    const float *restrict const before = at->before, *restrict const dy = at->dy;
    SIMD for (int64_t k = 0; k < n; k++) {
        const float d = dy[k] + d_h[k];
        const float d_n = d * (1.0f - z[k]) * (1.0f - candidate[k] * candidate[k]);
        const float d_r = d_n * h_n[k] * (r[k] * (1.0f - r[k]));
        const float d_z = d * (before[k] - candidate[k]) * (z[k] * (1.0f - z[k]));
        d_pre_x[k] = d_pre_h[k] = d_r;
        d_pre_x[n + k] = d_pre_h[n + k] = d_z;
        d_pre_x[2 * n + k] = d_n;
        d_pre_h[2 * n + k] = d_n * r[k];
        d_h[k] = d * z[k];
    }
}

void NAME(fill_recurrent)(struct simd* table) {
    table->tanh_step = tanh_step;
    table->relu_step = relu_step;
    table->tanh_step_backward = tanh_step_backward;
    table->relu_step_backward = relu_step_backward;
    table->lstm_step = lstm_step;
    table->lstm_step_backward = lstm_step_backward;
    table->gru_step = gru_step;
    table->gru_step_backward = gru_step_backward;
}
