/* Activation functions, and softmax with a temperature. */
#include "check.h"
#include "simd.h"
#include "parallel.h"

int32_t cuda_relu(const float* input, float* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->relu(length, input + at, output + at))
    return ASSAYER_OK;
}

int32_t cuda_relu_backward(const float* input, const float* d_output, float* d_input, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->relu_backward(length, input + at, d_output + at, d_input + at))
    return ASSAYER_OK;
}

int32_t cuda_leaky_relu(const float* input, float* output, int64_t n, float alpha, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->leaky_relu(length, input + at, alpha, output + at))
    return ASSAYER_OK;
}

int32_t cuda_leaky_relu_backward(const float* input, const float* d_output, float* d_input, int64_t n, float alpha,
                                 void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->leaky_relu_backward(length, input + at, d_output + at, alpha, d_input + at))
    return ASSAYER_OK;
}

int32_t cuda_elu(const float* input, float* output, int64_t n, float alpha, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->elu(length, input + at, alpha, output + at))
    return ASSAYER_OK;
}

int32_t cuda_elu_backward(const float* input, const float* d_output, float* d_input, int64_t n, float alpha, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->elu_backward(length, input + at, d_output + at, alpha, d_input + at))
    return ASSAYER_OK;
}

int32_t cuda_sigmoid(const float* input, float* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->sigmoid(length, input + at, output + at))
    return ASSAYER_OK;
}

int32_t cuda_sigmoid_backward(const float* output, const float* d_output, float* d_input, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(output, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->sigmoid_backward(length, output + at, d_output + at, d_input + at))
    return ASSAYER_OK;
}

int32_t cuda_tanh(const float* input, float* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->tanh(length, input + at, output + at))
    return ASSAYER_OK;
}

int32_t cuda_tanh_backward(const float* output, const float* d_output, float* d_input, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(output, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->tanh_backward(length, output + at, d_output + at, d_input + at))
    return ASSAYER_OK;
}

int32_t cuda_gelu(const float* input, float* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->gelu(length, input + at, output + at))
    return ASSAYER_OK;
}

int32_t cuda_gelu_backward(const float* input, const float* d_output, float* d_input, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->gelu_backward(length, input + at, d_output + at, d_input + at))
    return ASSAYER_OK;
}

int32_t cuda_gelu_tanh(const float* input, float* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->gelu_tanh(length, input + at, output + at))
    return ASSAYER_OK;
}

int32_t cuda_gelu_tanh_backward(const float* input, const float* d_output, float* d_input, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->gelu_tanh_backward(length, input + at, d_output + at, d_input + at))
    return ASSAYER_OK;
}

int32_t cuda_softmax_temperature(const float* input, float* output, int rows, int cols, float temperature, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, cols);
    CHECK_ARRAY(output, rows, cols);
    CHECK(temperature > 0);
    const struct simd* const v = simd();
    PARALLEL_FOR((int64_t)rows * cols >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        const float* const x = input + row * cols;
        float* const y = output + row * cols;
        const double total = v->exp_tempered(cols, x, v->maximum(cols, x), temperature, y);
        v->scale(cols, y, (float)(1 / total), y);
    }
    return ASSAYER_OK;
}

int32_t cuda_softmax_temperature_backward(const float* output, const float* d_output, float* d_input, int rows, int cols,
                                          float temperature, void* stream) {
    (void)stream;
    CHECK_ARRAY(output, rows, cols);
    CHECK_ARRAY(d_output, rows, cols);
    CHECK_ARRAY(d_input, rows, cols);
    CHECK(temperature > 0);
    const struct simd* const v = simd();
    PARALLEL_FOR((int64_t)rows * cols >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        const float *y = output + row * cols, *dy = d_output + row * cols;
        v->softmax_tempered_backward(cols, y, dy, (float)v->dot(cols, y, dy), temperature, d_input + row * cols);
    }
    return ASSAYER_OK;
}
