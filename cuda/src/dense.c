/* The dense layer: bias and activation are applied to every run of the product by the thread that has summed it, while it lies
 * in the cache. */
#include "check.h"
#include "columns.h"
#include "parallel.h"
#include "product.h"
#include "simd.h"

#include <stddef.h>
#include <string.h>

/* y = f(x), f the activation of assayer.h with that number. */
static void activate(const struct simd* v, int activation, float alpha, int64_t n, const float* x, float* y) {
    switch (activation) {
    case ASSAYER_RELU: v->relu(n, x, y); break;
    case ASSAYER_LEAKY_RELU: v->leaky_relu(n, x, alpha, y); break;
    case ASSAYER_ELU: v->elu(n, x, alpha, y); break;
    case ASSAYER_SIGMOID: v->sigmoid(n, x, y); break;
    case ASSAYER_TANH: v->tanh(n, x, y); break;
    case ASSAYER_GELU: v->gelu(n, x, y); break;
    case ASSAYER_GELU_TANH: v->gelu_tanh(n, x, y); break;
    default: memcpy(y, x, (size_t)n * sizeof(float));
    }
}

/* No more elements at a time where a gradient needs f(x) once more. */
enum { PIECE = 1024 };

/* dx = dy * f'(x); at most PIECE elements. */
static void activate_back(const struct simd* v, int activation, float alpha, int64_t n, const float* x, const float* dy, float* dx) {
    float y[PIECE];
    switch (activation) {
    case ASSAYER_RELU: v->relu_backward(n, x, dy, dx); break;
    case ASSAYER_LEAKY_RELU: v->leaky_relu_backward(n, x, dy, alpha, dx); break;
    case ASSAYER_ELU: v->elu_backward(n, x, dy, alpha, dx); break;
    case ASSAYER_SIGMOID: v->sigmoid(n, x, y), v->sigmoid_backward(n, y, dy, dx); break;
    case ASSAYER_TANH: v->tanh(n, x, y), v->tanh_backward(n, y, dy, dx); break;
    case ASSAYER_GELU: v->gelu_backward(n, x, dy, dx); break;
    case ASSAYER_GELU_TANH: v->gelu_tanh_backward(n, x, dy, dx); break;
    default: memcpy(dx, dy, (size_t)n * sizeof(float));
    }
}

struct epilogue {
    struct finish finish; /* first, so that a pointer to it is one to the whole */
    const float* bias;
    float *pre, *output;
    int activation;
    float alpha;
};

static void finish_run(const struct finish* finish, const struct simd* v, int64_t n, int64_t at, int64_t column) {
    const struct epilogue* const e = (const struct epilogue*)finish;
    if (e->bias) v->axpy(n, 1.0f, e->bias + column, e->pre + at);
    activate(v, e->activation, e->alpha, n, e->pre + at, e->output + at);
}

int32_t cuda_dense(const float* input, const float* weight, const float* bias, float* pre, float* output, int rows, int in_features,
                   int out_features, int activation, float alpha, int has_bias, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, in_features);
    CHECK_ARRAY(weight, out_features, in_features);
    CHECK_ARRAY_IF(has_bias != 0, bias, out_features);
    CHECK_ARRAY(pre, rows, out_features);
    CHECK_ARRAY(output, rows, out_features);
    CHECK(activation >= ASSAYER_LINEAR && activation <= ASSAYER_GELU_TANH);
    const struct epilogue e = {{finish_run}, has_bias ? bias : NULL, pre, output, activation, alpha};
    struct product p = {.a = plain(input, in_features), .b = transposed(weight, in_features), .c = pre, .c_row = out_features,
                        .rows = rows, .columns = out_features, .depth = in_features, .finish = &e.finish};
    return multiply_all(&p, 1, 1.0f, 0.0f);
}

struct backward {
    const float *pre, *d_output;
    float *d_pre, *d_bias;
    int64_t rows, columns;
    int activation;
    float alpha, beta;
};

static void make_gradient(const void* context) {
    const struct backward* const b = context;
    const struct simd* const v = simd();
    const int64_t n = b->rows * b->columns;
    PARALLEL_FOR(n >= SERIAL_BELOW)
    for (int64_t piece = 0; piece < ceil_div(n, PIECE); piece++) {
        const int64_t at = piece * PIECE;
        activate_back(v, b->activation, b->alpha, min64(PIECE, n - at), b->pre + at, b->d_output + at, b->d_pre + at);
    }
    sum_columns(b->d_pre, b->rows, b->columns, b->beta, b->d_bias);
}

int32_t cuda_dense_backward(const float* input, const float* weight, const float* pre, const float* d_output, float* d_pre,
                            float* d_input, float* d_weight, float* d_bias, int rows, int in_features, int out_features,
                            int activation, float alpha, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, in_features);
    CHECK_ARRAY(weight, out_features, in_features);
    CHECK_ARRAY(pre, rows, out_features);
    CHECK_ARRAY(d_output, rows, out_features);
    CHECK_ARRAY(d_pre, rows, out_features);
    CHECK_ARRAY(d_input, rows, in_features);
    CHECK_ARRAY(d_weight, out_features, in_features);
    CHECK_ARRAY(d_bias, out_features);
    CHECK(activation >= ASSAYER_LINEAR && activation <= ASSAYER_GELU_TANH);
    const struct backward b = {pre, d_output, d_pre, d_bias, rows, out_features, activation, alpha, beta};
    struct product products[] = {
        {.a = plain(d_pre, out_features), .b = plain(weight, in_features), .c = d_input, .c_row = in_features, .rows = rows,
         .columns = in_features, .depth = out_features, .fresh = true},
        {.a = transposed(d_pre, out_features), .b = plain(input, in_features), .c = d_weight, .c_row = in_features,
         .rows = out_features, .columns = in_features, .depth = rows}};
    return make_and_multiply(make_gradient, &b, products, sizeof products / sizeof *products, 1.0f, beta);
}
