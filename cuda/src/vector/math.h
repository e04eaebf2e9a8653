/* Functions of one float, written so that a compiler turns a loop over them into vector instructions: no branch, no call,
 * no table. */
#ifndef ASSAYER_VECTOR_MATH_H
#define ASSAYER_VECTOR_MATH_H

#include <stdint.h>
#include <string.h>

#if defined(_OPENMP) || defined(ASSAYER_OPENMP_SIMD)
#define SIMD_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define SIMD SIMD_PRAGMA(omp simd)
#define SIMD_SUM(...) SIMD_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define SIMD_ANY(...) SIMD_PRAGMA(omp simd reduction(| : __VA_ARGS__))
#define SIMD_LARGEST(...) SIMD_PRAGMA(omp simd reduction(max : __VA_ARGS__))
#else
#define SIMD
#define SIMD_SUM(...)
#define SIMD_ANY(...)
#define SIMD_LARGEST(...)
#endif

/* Asks for the cache line at an address, which may be any. */
#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch((const void*)(address), 0, 3)
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
/* log(x), within 1 ulp; NaN for NaN and for what is below 0, -infinity for 0, subnormal numbers as any other.
 *
 * x = 2^e m, sqrt(1/2) <= m < sqrt(2), r = m - 1: log(1 + r) = r - r^2 / 2 + r^3 q(r), q Moshier's polynomial of degree 8 (Cephes,
 * logf), and e ln 2 in two parts as in exp_lane. */
static inline float log_lane(float x) {
    const float smallest = 1.17549435e-38f, root = 0.707106781f; /* 2^-126; sqrt(1/2) */
    const float normal = x < smallest ? x * 33554432.0f : x;     /* 2^25 */
    const int32_t above = (int32_t)(bits_of(normal) - bits_of(root)) >> 23;
    const float e = (float)above - (x < smallest ? 25.0f : 0.0f);
    const float r = float_of(bits_of(normal) - ((uint32_t)above << 23)) - 1.0f;
    const float square = r * r;
    float q = 7.0376836292e-2f;
    q = q * r - 1.1514610310e-1f;
    q = q * r + 1.1676998740e-1f;
    q = q * r - 1.2420140846e-1f;
    q = q * r + 1.4249322787e-1f;
    q = q * r - 1.6668057665e-1f;
    q = q * r + 2.0000714765e-1f;
    q = q * r - 2.4999993993e-1f;
    q = q * r + 3.3333331174e-1f;
    const float y = (q * r * square + e * -2.12194440e-4f) - 0.5f * square;
    const float result = (y + r) + e * 0.693359375f;
    const float least = float_of(0xff800000u), none = float_of(0x7fc00000u); /* -infinity and NaN, whatever is compiled fast */
    return x > 3.40282347e+38f ? x : x > 0.0f ? result : x == 0.0f ? least : none;
}

/* 1 / (1 + exp(-x)). */
static inline float sigmoid_lane(float x) { return 1.0f / (1.0f + exp_lane(-x)); }

/* tanh(x) = e / (e + 2), e = exp(2 |x|) - 1, with the sign of x: within 2.4 ulp; NaN for NaN.  From 10 on it is 1. */
static inline float tanh_lane(float x) {
    const float size = float_of(bits_of(x) & 0x7fffffffu);
    const float e = expm1_lane(2.0f * (size > 10.0f ? 10.0f : size));
    return float_of(bits_of(e / (e + 2.0f)) | (bits_of(x) & 0x80000000u));
}

/* Phi(x), the normal distribution, (1 + erf(x / sqrt(2))) / 2: 1/2 + x P(x^2) / Q(x^2), the quotient of two polynomials of
 * degree 5 whose largest error is least where |x| < 5.6 (2^-26.6); 0 or 1 beyond, where it is as near to them.  With what is
 * rounded on the way it errs by no more than 2^-22.3: as the formula does, it does not hold small ones to all their digits. */
static inline float normal_lane(float x) {
    const float end = 5.6f, within = x > end ? end : x < -end ? -end : x, s = within * within;
    const float p = ((((2.2189928e-08f * s + 6.3291977e-06f) * s + 0.00017200065f) * s + 0.0046961471f) * s + 0.03420997f) * s + 0.39894226f;
    const float q = ((((1.1794509e-06f * s + 7.4426738e-05f) * s + 0.0019027465f) * s + 0.02884244f) * s + 0.25241774f) * s + 1.0f;
    return x < -end ? 0.0f : 0.5f + within * p / q;
}

#endif
