/* Activation functions and their gradients. */
#include "activations.cuh"
#include "map.cuh"

int32_t cuda_relu(const float* input, float* output, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<1, 1>{{input}, {output}}, n, Relu{}, stream);
}

int32_t cuda_relu_backward(const float* input, const float* d_output, float* d_input, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    return map(Arrays<2, 1>{{input, d_output}, {d_input}}, n, ReluBackward{}, stream);
}

int32_t cuda_leaky_relu(const float* input, float* output, int64_t n, float alpha, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<1, 1>{{input}, {output}}, n, LeakyRelu{alpha}, stream);
}

int32_t cuda_leaky_relu_backward(const float* input, const float* d_output, float* d_input, int64_t n, float alpha,
                                 void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    return map(Arrays<2, 1>{{input, d_output}, {d_input}}, n, LeakyReluBackward{alpha}, stream);
}

int32_t cuda_elu(const float* input, float* output, int64_t n, float alpha, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<1, 1>{{input}, {output}}, n, Elu{alpha}, stream);
}

int32_t cuda_elu_backward(const float* input, const float* d_output, float* d_input, int64_t n, float alpha,
                          void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    return map(Arrays<2, 1>{{input, d_output}, {d_input}}, n, EluBackward{alpha}, stream);
}

int32_t cuda_sigmoid(const float* input, float* output, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<1, 1>{{input}, {output}}, n, Sigmoid{}, stream);
}

int32_t cuda_sigmoid_backward(const float* output, const float* d_output, float* d_input, int64_t n, void* stream) {
    CHECK_ARRAY(output, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    return map(Arrays<2, 1>{{output, d_output}, {d_input}}, n, SigmoidBackward{}, stream);
}

int32_t cuda_tanh(const float* input, float* output, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<1, 1>{{input}, {output}}, n, Tanh{}, stream);
}

int32_t cuda_tanh_backward(const float* output, const float* d_output, float* d_input, int64_t n, void* stream) {
    CHECK_ARRAY(output, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    return map(Arrays<2, 1>{{output, d_output}, {d_input}}, n, TanhBackward{}, stream);
}

int32_t cuda_gelu(const float* input, float* output, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<1, 1>{{input}, {output}}, n, Gelu{}, stream);
}

int32_t cuda_gelu_backward(const float* input, const float* d_output, float* d_input, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    return map(Arrays<2, 1>{{input, d_output}, {d_input}}, n, GeluBackward{}, stream);
}

int32_t cuda_gelu_tanh(const float* input, float* output, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<1, 1>{{input}, {output}}, n, GeluTanh{}, stream);
}

int32_t cuda_gelu_tanh_backward(const float* input, const float* d_output, float* d_input, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    return map(Arrays<2, 1>{{input, d_output}, {d_input}}, n, GeluTanhBackward{}, stream);
}
