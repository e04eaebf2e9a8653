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

template <typename T> int32_t swiglu(const T* gate, const T* up, T* output, int64_t n, void* stream) {
    CHECK_ARRAY(gate, n);
    CHECK_ARRAY(up, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<2, 1, T>{{gate, up}, {output}}, n, Swiglu{}, stream);
}

template <typename T>
int32_t swiglu_backward(const T* gate, const T* up, const T* d_output, T* d_gate, T* d_up, int64_t n, void* stream) {
    CHECK_ARRAY(gate, n);
    CHECK_ARRAY(up, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_gate, n);
    CHECK_ARRAY(d_up, n);
    return map(Arrays<3, 2, T>{{gate, up, d_output}, {d_gate, d_up}}, n, SwigluBackward{}, stream);
}

template <typename T> int32_t add(const T* a, const T* b, T* output, int64_t n, void* stream) {
    CHECK_ARRAY(a, n);
    CHECK_ARRAY(b, n);
    CHECK_ARRAY(output, n);
    return map(Arrays<2, 1, T>{{a, b}, {output}}, n, Add{}, stream);
}

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

#define SWIGLU_AND_ADD(Declared, T, suffix)                                                                            \
    int32_t cuda_swiglu##suffix(const Declared* gate, const Declared* up, Declared* output, int64_t n, void* stream) { \
        return swiglu(numbers_of<T>(gate), numbers_of<T>(up), numbers_of<T>(output), n, stream);                       \
    }                                                                                                                  \
    int32_t cuda_swiglu_backward##suffix(const Declared* gate, const Declared* up, const Declared* d_output,           \
                                         Declared* d_gate, Declared* d_up, int64_t n, void* stream) {                  \
        return swiglu_backward(numbers_of<T>(gate), numbers_of<T>(up), numbers_of<T>(d_output), numbers_of<T>(d_gate), \
                               numbers_of<T>(d_up), n, stream);                                                        \
    }                                                                                                                  \
    int32_t cuda_add##suffix(const Declared* a, const Declared* b, Declared* output, int64_t n, void* stream) {        \
        return add(numbers_of<T>(a), numbers_of<T>(b), numbers_of<T>(output), n, stream);                              \
    }
FOR_EACH_STORAGE(SWIGLU_AND_ADD)

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
