/* Activation functions and their gradients, and the exponentials of softmax with a temperature.  The formulas are those of
 * assayer.h. */
#include "math.h"
#include "names.h"

static void relu(int64_t n, const float* restrict x, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = x[i] <= 0.0f ? 0.0f : x[i];
}

static void relu_backward(int64_t n, const float* restrict x, const float* restrict dy, float* restrict dx) {
    SIMD for (int64_t i = 0; i < n; i++) dx[i] = x[i] <= 0.0f ? 0.0f : dy[i];
}

static void leaky_relu(int64_t n, const float* restrict x, float alpha, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = x[i] > 0.0f ? x[i] : alpha * x[i];
}

static void leaky_relu_backward(int64_t n, const float* restrict x, const float* restrict dy, float alpha, float* restrict dx) {
    SIMD for (int64_t i = 0; i < n; i++) dx[i] = x[i] > 0.0f ? dy[i] : alpha * dy[i];
}

static void elu(int64_t n, const float* restrict x, float alpha, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = x[i] > 0.0f ? x[i] : alpha * expm1_lane(x[i]);
}

static void elu_backward(int64_t n, const float* restrict x, const float* restrict dy, float alpha, float* restrict dx) {
    SIMD for (int64_t i = 0; i < n; i++) dx[i] = x[i] > 0.0f ? dy[i] : dy[i] * alpha * exp_lane(x[i]);
}

static void sigmoid(int64_t n, const float* restrict x, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = sigmoid_lane(x[i]);
}

static void sigmoid_backward(int64_t n, const float* restrict y, const float* restrict dy, float* restrict dx) {
    SIMD for (int64_t i = 0; i < n; i++) dx[i] = dy[i] * y[i] * (1.0f - y[i]);
}

static void hyperbolic_tangent(int64_t n, const float* restrict x, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = tanh_lane(x[i]);
}

static void tanh_backward(int64_t n, const float* restrict y, const float* restrict dy, float* restrict dx) {
    SIMD for (int64_t i = 0; i < n; i++) dx[i] = dy[i] * (1.0f - y[i] * y[i]);
}

static void gelu(int64_t n, const float* restrict x, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = x[i] * normal_lane(x[i]);
}

static void gelu_backward(int64_t n, const float* restrict x, const float* restrict dy, float* restrict dx) {
    const float density_at_0 = 0.39894228f; /* 1 / sqrt(2 pi) */
    SIMD for (int64_t i = 0; i < n; i++) {
        const float density = density_at_0 * exp_lane(-0.5f * x[i] * x[i]);
        dx[i] = dy[i] * (normal_lane(x[i]) + x[i] * density);
    }
}

/* (1 + tanh(u)) / 2 = sigmoid(2 u): nothing cancels where tanh is near -1.  TWICE = 2 sqrt(2 / pi). */
#define TWICE 1.5957691f
#define CUBE 0.044715f
static inline float gelu_tanh_gate(float x) { return sigmoid_lane(TWICE * x * (1.0f + CUBE * x * x)); }

static void gelu_tanh(int64_t n, const float* restrict x, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = x[i] * gelu_tanh_gate(x[i]);
}

/* 1 - tanh(u)^2 = 4 s (1 - s), s = sigmoid(2 u).  Past 16 s (1 - s) is 0, which the square is not to pass the largest float
 * for. */
static void gelu_tanh_backward(int64_t n, const float* restrict x, const float* restrict dy, float* restrict dx) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const float s = gelu_tanh_gate(x[i]), near = x[i] > 16.0f ? 16.0f : x[i] < -16.0f ? -16.0f : x[i];
        dx[i] = dy[i] * (s + x[i] * (s * (1.0f - s)) * (TWICE + 3.0f * TWICE * CUBE * near * near));
    }
}

/* Exponentials are summed in float over blocks this long and then in double, as in rows.c. */
enum { BLOCK = 1024 };

static float exp_tempered_block(int64_t n, const float* restrict x, float shift, float temperature, float* restrict y) {
    float total = 0;
    SIMD_SUM(total) for (int64_t i = 0; i < n; i++) {
        const float e = exp_lane((x[i] - shift) / temperature);
        y[i] = e;
        total += e;
    }
    return total;
}

/* y = exp((x - shift) / temperature): the difference first, so that no quotient passes the largest float. */
static double exp_tempered(int64_t n, const float* x, float shift, float temperature, float* y) {
    double total = 0;
    for (int64_t start = 0; start < n; start += BLOCK)
        total += exp_tempered_block(n - start < BLOCK ? n - start : BLOCK, x + start, shift, temperature, y + start);
    return total;
}

static void softmax_tempered_backward(int64_t n, const float* restrict y, const float* restrict dy, float inner, float temperature,
                                      float* restrict dx) {
    SIMD for (int64_t i = 0; i < n; i++) dx[i] = y[i] * (dy[i] - inner) / temperature;
}

void NAME(fill_activations)(struct simd* table) {
    table->relu = relu;
    table->relu_backward = relu_backward;
    table->leaky_relu = leaky_relu;
    table->leaky_relu_backward = leaky_relu_backward;
    table->elu = elu;
    table->elu_backward = elu_backward;
    table->sigmoid = sigmoid;
    table->sigmoid_backward = sigmoid_backward;
    table->tanh = hyperbolic_tangent;
    table->tanh_backward = tanh_backward;
    table->gelu = gelu;
    table->gelu_backward = gelu_backward;
    table->gelu_tanh = gelu_tanh;
    table->gelu_tanh_backward = gelu_tanh_backward;
    table->exp_tempered = exp_tempered;
    table->softmax_tempered_backward = softmax_tempered_backward;
}
