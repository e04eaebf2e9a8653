/* Activation functions and their gradients, as what a kernel does with each element. */
#ifndef ASSAYER_ACTIVATIONS_CUH
#define ASSAYER_ACTIVATIONS_CUH

#include "functions.cuh"
#include "launch.cuh"

struct Linear {
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0]; }
};

/* x: input, d_output, as in every gradient below that does not say otherwise. */
struct LinearBackward {
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const { y[0] = x[1]; }
};

struct Relu {
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0] <= 0.0f ? 0.0f : x[0]; }
};

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

/* Below -1 nothing cancels in exp(x) - 1, and it errs by units of exp(x); expm1f may by one of a result near -1. */
struct Elu {
    float alpha;
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const {
        y[0] = x[0] > 0.0f ? x[0] : alpha * (x[0] < -1.0f ? expf(x[0]) - 1.0f : expm1f(x[0]));
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

/* (1 + tanh(u)) / 2 = sigmoid(2 u): nothing cancels in that where tanh is near -1; near 0 tanh errs by units of its own
   small results, and the sigmoid by those of 1.  TWICE = 2 sqrt(2 / pi). */
constexpr float TWICE = 1.5957691f, CUBE = 0.044715f;
__device__ inline float gelu_tanh_gate(float x) {
    const float twice_u = TWICE * x * (1.0f + CUBE * x * x);
    return twice_u < -1.0f ? sigmoid(twice_u) : 0.5f + 0.5f * tanhf(0.5f * twice_u);
}

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

/* The gradient from the input of one that is from the output: x: input, d_output. */
template <typename Forward, typename Backward> struct FromInput {
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const {
        const float input[1] = {x[0]};
        Forward{}(input, y);
        const float given[2] = {y[0], x[1]};
        Backward{}(given, y);
    }
};

/* visit(the function of assayer.h with that number). */
template <typename Visit> __device__ auto with_activation(int activation, float alpha, const Visit& visit) {
    switch (activation) {
    case ASSAYER_RELU:
        return visit(Relu{});
    case ASSAYER_LEAKY_RELU:
        return visit(LeakyRelu{alpha});
    case ASSAYER_ELU:
        return visit(Elu{alpha});
    case ASSAYER_SIGMOID:
        return visit(Sigmoid{});
    case ASSAYER_TANH:
        return visit(Tanh{});
    case ASSAYER_GELU:
        return visit(Gelu{});
    case ASSAYER_GELU_TANH:
        return visit(GeluTanh{});
    default:
        return visit(Linear{});
    }
}

/* visit(its gradient from input and d_output). */
template <typename Visit> auto with_activation_backward(int activation, float alpha, const Visit& visit) {
    switch (activation) {
    case ASSAYER_RELU:
        return visit(ReluBackward{});
    case ASSAYER_LEAKY_RELU:
        return visit(LeakyReluBackward{alpha});
    case ASSAYER_ELU:
        return visit(EluBackward{alpha});
    case ASSAYER_SIGMOID:
        return visit(FromInput<Sigmoid, SigmoidBackward>{});
    case ASSAYER_TANH:
        return visit(FromInput<Tanh, TanhBackward>{});
    case ASSAYER_GELU:
        return visit(GeluBackward{});
    case ASSAYER_GELU_TANH:
        return visit(GeluTanhBackward{});
    default:
        return visit(LinearBackward{});
    }
}

#endif
