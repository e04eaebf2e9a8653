/* 16-bit formats: each number to float32, and from it to nearest even. */
#ifndef ASSAYER_HALF_CUH
#define ASSAYER_HALF_CUH

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../src/random.h"

typedef uint16_t half_bits;

struct Bf16 {
    using Number = __nv_bfloat16;
    static constexpr int DIGITS = 8; /* binary, of a number */
    static __device__ float widen(half_bits x) { return __bfloat162float(__ushort_as_bfloat16(x)); }
    static __device__ half_bits narrow(float x) { return __bfloat16_as_ushort(__float2bfloat16_rn(x)); }
    static __device__ half_bits draw(float x, uint32_t r) {
        const uint32_t bits = __float_as_uint(x);
        return isnan(x) ? narrow(x) : static_cast<half_bits>((bits + r) >> 16);
    }
};

struct Fp16 {
    using Number = __half;
    static constexpr int DIGITS = 11;
    static __device__ float widen(half_bits x) { return __half2float(__ushort_as_half(x)); }
    static __device__ half_bits narrow(float x) { return __half_as_ushort(__float2half_rn(x)); }

    /* A draw has three bits more than are dropped of a normal number; a subnormal one counts in units of 2^-24. */
    static __device__ half_bits draw(float x, uint32_t r) {
        const uint32_t bits = __float_as_uint(x), magnitude = bits & 0x7fffffff;
        if (magnitude >= 0x47800000) return narrow(x); /* from 2^16 on: infinity, NaN */
        uint32_t drawn = ((magnitude + (r >> 3)) >> 13) - (112u << 10);
        if (magnitude < 0x38800000) {
            const float units = __uint_as_float(magnitude) * 0x1p24f;
            const uint32_t whole = static_cast<uint32_t>(units);
            drawn = whole + ((static_cast<uint32_t>((units - whole) * 0x1p16f) + r) >> 16);
        }
        return static_cast<half_bits>((bits >> 16 & 0x8000) | drawn);
    }
};

#endif
