/* Functions of one number that several families use. */
#ifndef ASSAYER_FUNCTIONS_CUH
#define ASSAYER_FUNCTIONS_CUH

#include <cuda_runtime.h>

#include <cmath>

/* 1 / (1 + exp(-x)). */
__device__ inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

__device__ inline float swiglu(float gate, float up) { return gate * sigmoid(gate) * up; }

/* 1 / sqrt(mean + eps), from the sum of n squares. */
__device__ inline float inverse_root(float squares, int n, float eps) {
    return 1.0f / sqrtf(squares / static_cast<float>(n) + eps);
}

/* What is written in place of what an index out of range would have produced. */
__device__ inline float not_a_number() { return __int_as_float(0x7fc00000); }

#endif
