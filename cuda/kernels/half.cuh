/* 16-bit formats: each number to float32, and from it to nearest even.  A format is the type of a number of it in
 * memory, too: an array of half_bits does not say which one it holds. */
#ifndef ASSAYER_HALF_CUH
#define ASSAYER_HALF_CUH

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <type_traits>

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
    half_bits bits;
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
    half_bits bits;
};
static_assert(sizeof(Bf16) == sizeof(half_bits) && sizeof(Fp16) == sizeof(half_bits), "arrays of them are half_bits");

/* An array as the header declares it, as one of the numbers that it holds: T is float or a format. */
template <typename T, typename Declared> const T* numbers_of(const Declared* array) {
    static_assert(sizeof(T) == sizeof(Declared), "the same array");
    return reinterpret_cast<const T*>(array);
}
template <typename T, typename Declared> T* numbers_of(Declared* array) {
    static_assert(sizeof(T) == sizeof(Declared), "the same array");
    return reinterpret_cast<T*>(array);
}

/* An operation by a macro of what its arrays are declared as, what numbers they hold, and its name's suffix. */
#define FOR_EACH_STORAGE(OPERATION)                                                                                    \
    OPERATION(float, float, )                                                                                          \
    OPERATION(assayer_bf16, Bf16, _bf16)                                                                               \
    OPERATION(assayer_fp16, Fp16, _fp16)

/* A number in memory, of float32 or a format, as it is computed with; and back, rounded to nearest even. */
__device__ inline float widened(float x) { return x; }
template <typename Format> __device__ float widened(Format x) { return Format::widen(x.bits); }

template <typename T> __device__ T rounded(float x) {
    if constexpr (std::is_same_v<T, float>) return x;
    else return {T::narrow(x)};
}

#endif
