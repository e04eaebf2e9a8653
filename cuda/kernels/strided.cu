/* Functions of one and of two numbers, element by element over tensors of any layout. */
#include "strided.cuh"

#include "activations.cuh"

namespace {

/* log(1 + exp(x)), without an exponential that could pass the largest number. */
__device__ float softplus(float x) { return (x < 0.0f ? 0.0f : x) + log1pf(expf(x < 0.0f ? x : -x)); }

template <typename Function> __device__ float applied(const Function& f, float x) {
    const float given[1] = {x};
    float y[1];
    f(given, y);
    return y[0];
}

template <typename Function> __device__ float applied(const Function& f, float a, float b) {
    const float given[2] = {a, b};
    float y[1];
    f(given, y);
    return y[0];
}

/* The function of assayer.h with that number: the same for all threads of a launch. */
__device__ float map_one(int function, float x) {
    switch (function) {
    case ASSAYER_MAP_NEGATIVE:
        return -x;
    case ASSAYER_MAP_ABSOLUTE:
        return fabsf(x);
    case ASSAYER_MAP_SIGN:
        return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x;
    case ASSAYER_MAP_FLOOR:
        return floorf(x);
    case ASSAYER_MAP_CEIL:
        return ceilf(x);
    case ASSAYER_MAP_ROUND:
        return rintf(x);
    case ASSAYER_MAP_SQUARE:
        return x * x;
    case ASSAYER_MAP_RECIPROCAL:
        return 1.0f / x;
    case ASSAYER_MAP_SQRT:
        return sqrtf(x);
    case ASSAYER_MAP_RSQRT:
        return 1.0f / sqrtf(x);
    case ASSAYER_MAP_EXP:
        return expf(x);
    case ASSAYER_MAP_LOG:
        return logf(x);
    case ASSAYER_MAP_SIN:
        return sinf(x);
    case ASSAYER_MAP_COS:
        return cosf(x);
    case ASSAYER_MAP_TANH:
        return tanhf(x);
    case ASSAYER_MAP_SIGMOID:
        return sigmoid(x);
    case ASSAYER_MAP_SILU:
        return x * sigmoid(x);
    case ASSAYER_MAP_SOFTPLUS:
        return softplus(x);
    case ASSAYER_MAP_ERF:
        return erff(x);
    case ASSAYER_MAP_RELU:
        return applied(Relu{}, x);
    case ASSAYER_MAP_GELU:
        return applied(Gelu{}, x);
    case ASSAYER_MAP_GELU_TANH:
        return applied(GeluTanh{}, x);
    default:
        return x;
    }
}

__device__ float zip_two(int function, float a, float b) {
    switch (function) {
    case ASSAYER_ZIP_SUBTRACT:
        return a - b;
    case ASSAYER_ZIP_MULTIPLY:
        return a * b;
    case ASSAYER_ZIP_DIVIDE:
        return a / b;
    case ASSAYER_ZIP_POWER:
        return powf(a, b);
    case ASSAYER_ZIP_MAXIMUM:
        return a > b || isnan(a) ? a : b;
    case ASSAYER_ZIP_MINIMUM:
        return a < b || isnan(a) ? a : b;
    case ASSAYER_ZIP_LESS:
        return a < b ? 1.0f : 0.0f;
    case ASSAYER_ZIP_LESS_EQUAL:
        return a <= b ? 1.0f : 0.0f;
    case ASSAYER_ZIP_EQUAL:
        return a == b ? 1.0f : 0.0f;
    case ASSAYER_ZIP_NOT_EQUAL:
        return a == b ? 0.0f : 1.0f;
    case ASSAYER_ZIP_RELU_BACKWARD:
        return applied(ReluBackward{}, a, b);
    case ASSAYER_ZIP_SIGMOID_BACKWARD:
        return applied(SigmoidBackward{}, a, b);
    case ASSAYER_ZIP_TANH_BACKWARD:
        return applied(TanhBackward{}, a, b);
    case ASSAYER_ZIP_SQRT_BACKWARD:
        return b / (2.0f * a);
    case ASSAYER_ZIP_GELU_BACKWARD:
        return applied(GeluBackward{}, a, b);
    default:
        return a + b;
    }
}

struct MapFunction {
    int function;
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = map_one(function, x[0]); }
};

struct ZipFunction {
    int function;
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const { y[0] = zip_two(function, x[0], x[1]); }
};

} // namespace

int32_t cuda_map_strided(const float* input, float* output, const int64_t* shape, const int64_t* input_strides,
                         const int64_t* output_strides, int64_t input_size, int64_t output_size, int axes,
                         int64_t input_offset, int64_t output_offset, int function, void* stream) {
    CHECK(axes >= 0 && axes <= MOST_AXES && (axes == 0 || (shape && input_strides && output_strides)));
    CHECK(function >= 0 && function <= ASSAYER_MAP_GELU_TANH);
    CHECK(strides_fit(input, input_size, axes, shape, input_strides, input_offset, false));
    CHECK(strides_fit(output, output_size, axes, shape, output_strides, output_offset, true));
    layout at;
    set_shape(&at, axes, shape);
    set_operand(&at, 0, output_strides, output_offset);
    set_operand(&at, 1, input_strides, input_offset);
    if (elements_of(&at) == 0) return ASSAYER_OK;
    return map_layout(at, Arrays<1, 1>{{input}, {output}}, MapFunction{function}, stream);
}

int32_t cuda_zip_strided(const float* a, const float* b, float* output, const int64_t* shape, const int64_t* a_strides,
                         const int64_t* b_strides, const int64_t* output_strides, int64_t a_size, int64_t b_size,
                         int64_t output_size, int axes, int64_t a_offset, int64_t b_offset, int64_t output_offset,
                         int function, void* stream) {
    CHECK(axes >= 0 && axes <= MOST_AXES && (axes == 0 || (shape && a_strides && b_strides && output_strides)));
    CHECK(function >= 0 && function <= ASSAYER_ZIP_GELU_BACKWARD);
    CHECK(strides_fit(a, a_size, axes, shape, a_strides, a_offset, false));
    CHECK(strides_fit(b, b_size, axes, shape, b_strides, b_offset, false));
    CHECK(strides_fit(output, output_size, axes, shape, output_strides, output_offset, true));
    layout at;
    set_shape(&at, axes, shape);
    set_operand(&at, 0, output_strides, output_offset);
    set_operand(&at, 1, a_strides, a_offset);
    set_operand(&at, 2, b_strides, b_offset);
    if (elements_of(&at) == 0) return ASSAYER_OK;
    return map_layout(at, Arrays<2, 1>{{a, b}, {output}}, ZipFunction{function}, stream);
}
