/* Functions of one float, written so that a compiler turns a loop over them into vector instructions: no branch, no call,
 * no table. */
#ifndef ASSAYER_VECTOR_MATH_H
#define ASSAYER_VECTOR_MATH_H

#include <stdint.h>
#include <string.h>

#if defined(_OPENMP) || defined(ASSAYER_OPENMP_SIMD)
#define SIMD_PRAGMA(text) _Pragma(#text)
#define SIMD SIMD_PRAGMA(omp simd)
#define SIMD_SUM(name) SIMD_PRAGMA(omp simd reduction(+ : name))
#else
#define SIMD
#define SIMD_SUM(name)
#endif

/* Asks for the cache line at an address, which may be any. */
#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch((const void*)(address), 0, 2)
#else
#define PREFETCH(address) ((void)(address))
#endif

static inline uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x - n ln 2, ln 2 in two parts of which the first has trailing zeros, so that n times it is exact. */
static inline float without_powers(float x, float n) { return (x - n * 0.693359375f) - n * -2.12194440e-4f; }

/* exp(r) - 1 for |r| <= ln(2)/2: r + r^2 q(r), q the polynomial of degree 4 whose largest relative error in exp is least
 * (2^-27.7). */
static inline float expm1_near_zero(float r) {
    const float q = (((1.3814467e-3f * r + 8.3687810e-3f) * r + 4.1668393e-2f) * r + 1.6666520e-1f) * r + 4.9999994e-1f;
    return r * r * q + r;
}

/* exp(x), within 1.03 ulp (every seventh float was tried; tests/c scans the range); NaN for NaN, infinity above 88.72, 0 where the result is subnormal.
 *
 * x = n ln 2 + r; 2^n goes on in two halves, as 2^128 is no float. */
static inline float exp_lane(float x) {
    const float lowest = -87.336540f, highest = 89.0f, rounder = 12582912.0f; /* ln(2^-126); past overflow; 1.5 * 2^23 */
    const float clamped = x > highest ? highest : x < lowest ? lowest : x;     /* a NaN stays */
    const float shifted = clamped * 1.44269504f + rounder;
    const float n = shifted - rounder;
    const float y = expm1_near_zero(without_powers(clamped, n)) + 1.0f;
    const uint32_t biased = bits_of(shifted) - bits_of(12582912.0f) + 2 * 127;
    const uint32_t half = biased / 2;
    const float result = y * float_of(half << 23) * float_of((biased - half) << 23);
    return x < lowest ? 0.0f : result;
}

/* exp(x) - 1 for x <= 20, within 0.95 ulp; NaN for NaN.  2^n (exp(r) - 1) + (2^n - 1): the first term is alone near 0, and
 * 2^n - 1 is exact or far larger. */
static inline float expm1_lane(float x) {
    const float lowest = -20.0f, highest = 20.0f, rounder = 12582912.0f; /* -1 to the last bit; 1.5 * 2^23 */
    const float clamped = x > highest ? highest : x < lowest ? lowest : x;
    const float shifted = clamped * 1.44269504f + rounder;
    const float power = float_of((bits_of(shifted) - bits_of(12582912.0f) + 127) << 23);
    return power * expm1_near_zero(without_powers(clamped, shifted - rounder)) + (power - 1.0f);
}

/* 1 / (1 + exp(-x)), within 2.2 ulp down to -87.3. */
static inline float sigmoid_lane(float x) { return 1.0f / (1.0f + exp_lane(-x)); }

/* tanh(x) = e / (e + 2), e = exp(2 |x|) - 1, with the sign of x: within 2.4 ulp; NaN for NaN.  From 10 on it is 1. */
static inline float tanh_lane(float x) {
    const float size = float_of(bits_of(x) & 0x7fffffffu);
    const float e = expm1_lane(2.0f * (size > 10.0f ? 10.0f : size));
    return float_of(bits_of(e / (e + 2.0f)) | (bits_of(x) & 0x80000000u));
}

#endif
