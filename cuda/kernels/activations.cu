/* Activation functions and their gradients. */
#include "functions.cuh"
#include "map.cuh"

namespace {

struct Relu {
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0] <= 0.0f ? 0.0f : x[0]; }
};

/* x: input, d_output, as in every gradient below that does not say otherwise. */
struct ReluBackward {
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const { y[0] = x[0] <= 0.0f ? 0.0f : x[1]; }
};

struct LeakyRelu {
    float alpha;
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0] > 0.0f ? x[0] : alpha * x[0]; }
};

struct LeakyReluBackward {
    float alpha;
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const { y[0] = x[0] > 0.0f ? x[1] : alpha * x[1]; }
};

struct Elu {
    float alpha;
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const {
        y[0] = x[0] > 0.0f ? x[0] : alpha * expm1f(x[0]);
    }
};

struct EluBackward {
    float alpha;
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const {
        y[0] = x[0] > 0.0f ? x[1] : x[1] * alpha * expf(x[0]);
    }
};

struct Sigmoid {
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = sigmoid(x[0]); }
};

/* x: output, d_output. */
struct SigmoidBackward {
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const { y[0] = x[1] * x[0] * (1.0f - x[0]); }
};

struct Tanh {
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = tanhf(x[0]); }
};

/* x: output, d_output. */
struct TanhBackward {
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const { y[0] = x[1] * (1.0f - x[0] * x[0]); }
};

struct Gelu {
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0] * normcdff(x[0]); }
};

struct GeluBackward {
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const {
        constexpr float DENSITY_AT_0 = 0.39894228f; /* 1 / sqrt(2 pi) */
        y[0] = x[1] * (normcdff(x[0]) + x[0] * (DENSITY_AT_0 * expf(-0.5f * x[0] * x[0])));
    }
};

/* (1 + tanh(u)) / 2 = sigmoid(2 u): nothing cancels where tanh is near -1.  TWICE = 2 sqrt(2 / pi). */
constexpr float TWICE = 1.5957691f, CUBE = 0.044715f;
__device__ float gelu_tanh_gate(float x) { return sigmoid(TWICE * x * (1.0f + CUBE * x * x)); }

struct GeluTanh {
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0] * gelu_tanh_gate(x[0]); }
};

/* 1 - tanh(u)^2 = 4 s (1 - s), s = sigmoid(2 u).  Past 16 s (1 - s) is 0, and the square is not to become infinite. */
struct GeluTanhBackward {
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const {
        const float s = gelu_tanh_gate(x[0]), near = fminf(fmaxf(x[0], -16.0f), 16.0f);
        y[0] = x[1] * (s + x[0] * (s * (1.0f - s)) * (TWICE + 3.0f * TWICE * CUBE * near * near));
    }
};

} // namespace

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
