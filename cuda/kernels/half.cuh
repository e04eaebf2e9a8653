/* 16-bit formats: each number to float32, and from it to nearest even. */
#ifndef ASSAYER_HALF_CUH
#define ASSAYER_HALF_CUH

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef uint16_t half_bits;

struct Bf16 {
    static __device__ float widen(half_bits x) { return __bfloat162float(__ushort_as_bfloat16(x)); }
    static __device__ half_bits narrow(float x) { return __bfloat16_as_ushort(__float2bfloat16_rn(x)); }
};

struct Fp16 {
    static __device__ float widen(half_bits x) { return __half2float(__ushort_as_half(x)); }
    static __device__ half_bits narrow(float x) { return __half_as_ushort(__float2half_rn(x)); }
};

#endif
