/* Elementwise operations. */
#include "functions.cuh"
#include "map.cuh"

namespace {

struct Silu {
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0] * sigmoid(x[0]); }
};

/* x: input, d_output. */
struct SiluBackward {
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const {
        const float s = sigmoid(x[0]);
        y[0] = x[1] * s * (1.0f + x[0] * (1.0f - s));
    }
};

/* x: gate, up. */
struct Swiglu {
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const { y[0] = x[0] * sigmoid(x[0]) * x[1]; }
};

/* x: gate, up, d_output; y: d_gate, d_up. */
struct SwigluBackward {
    __device__ void operator()(const float (&x)[3], float (&y)[2]) const {
        const float s = sigmoid(x[0]);
        y[0] = x[2] * x[1] * (s * (1.0f + x[0] * (1.0f - s)));
        y[1] = x[2] * (x[0] * s);
    }
};

struct Add {
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const { y[0] = x[0] + x[1]; }
};

struct Mul {
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const { y[0] = x[0] * x[1]; }
};

struct Scale {
    float factor;
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0] * factor; }
};

} // namespace

int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<1, 1>{{input}, {output}}, n, Silu{}, stream);
}

int32_t cuda_silu_backward(const float* input, const float* d_output, float* d_input, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    return map(Arrays<2, 1>{{input, d_output}, {d_input}}, n, SiluBackward{}, stream);
}

int32_t cuda_swiglu(const float* gate, const float* up, float* output, int64_t n, void* stream) {
    CHECK_ARRAY(gate, n);
    CHECK_ARRAY(up, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<2, 1>{{gate, up}, {output}}, n, Swiglu{}, stream);
}

int32_t cuda_swiglu_backward(const float* gate, const float* up, const float* d_output, float* d_gate, float* d_up,
                             int64_t n, void* stream) {
    CHECK_ARRAY(gate, n);
    CHECK_ARRAY(up, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_gate, n);
    CHECK_ARRAY(d_up, n);
    return map(Arrays<3, 2>{{gate, up, d_output}, {d_gate, d_up}}, n, SwigluBackward{}, stream);
}

int32_t cuda_add(const float* a, const float* b, float* output, int64_t n, void* stream) {
    CHECK_ARRAY(a, n);
    CHECK_ARRAY(b, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<2, 1>{{a, b}, {output}}, n, Add{}, stream);
}

int32_t cuda_mul(const float* a, const float* b, float* output, int64_t n, void* stream) {
    CHECK_ARRAY(a, n);
    CHECK_ARRAY(b, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<2, 1>{{a, b}, {output}}, n, Mul{}, stream);
}

int32_t cuda_scale(const float* input, float scale, float* output, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<1, 1>{{input}, {output}}, n, Scale{scale}, stream);
}
