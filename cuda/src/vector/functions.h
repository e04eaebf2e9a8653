/* More functions of floats for vector loops, written as those of math.h are.  Where digits would be lost on the way they go
 * through double; coefficients without a source were fitted for these intervals, so that the largest error is least. */
#ifndef ASSAYER_VECTOR_FUNCTIONS_H
#define ASSAYER_VECTOR_FUNCTIONS_H

#include "math.h"

#include <math.h>

static inline float size_of(float x) { return float_of(bits_of(x) & 0x7fffffffu); }

static inline uint64_t bits_of_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The nearest whole number of what is below 2^51. */
static inline double nearest(double x) { return (x + 6755399441055744.0) - 6755399441055744.0; } /* 1.5 * 2^52 */

/* Up to here, 2^23, n quarter turns times the first part of pi / 2, which has 29 digits, is exact. */
#define MOST_ANGLE 8388608.0f

/* sin(x + quarters * pi / 2) for |x| <= MOST_ANGLE, within 0.66 ulp; any number where x is none of these.
 *
 * x = n pi / 2 + r, |r| <= pi / 4, pi / 2 in two parts; sin(r) = r + r^3 p(r^2) (2^-27.9), cos(r) = 1 - r^2 / 2 + r^4 q(r^2)
 * (2^-33.0). */
static inline float turned_sine_lane(float x, int32_t quarters) {
    const double angle = size_of(x) <= MOST_ANGLE ? (double)x : 0.0, n = nearest(angle * 0.63661977236758138);
    const double r = (angle - n * 1.570796325802803) - n * 9.920935796805404e-10, square = r * r;
    const float s = (float)square;
    const float p = (-1.95146319e-4f * s + 8.33215605e-3f) * s - 1.66666545e-1f;
    const float q = (2.44324129e-5f * s - 1.38873099e-3f) * s + 4.16666456e-2f;
    const float sine = (float)(r + r * square * p), cosine = (float)(1.0 - 0.5 * square + square * square * q);
    const int32_t quadrant = (int32_t)n + quarters;
    const float y = quadrant & 1 ? cosine : sine;
    return quadrant & 2 ? -y : y;
}

static inline float sine_lane(float x) { return x == 0.0f ? x : turned_sine_lane(x, 0); } /* -0 stays */
static inline float cosine_lane(float x) { return turned_sine_lane(x, 1); }

#ifdef __FMA__
/* The same in floats alone, for |x| <= NEAR_ANGLE: within 0.91 ulp.
 *
 * pi / 2 in three floats, n times the second of which, of 17 digits, is exact up to here; r = turned + left of it, left the part that
 * turned has lost. */
#define NEAR_ANGLE 192.0f
static inline float near_turned_sine_lane(float x, int32_t quarters) {
    const float rounder = 12582912.0f, shifted = __builtin_fmaf(x, 0.636619772f, rounder), n = shifted - rounder; /* 1.5 * 2^23 */
    const float first = __builtin_fmaf(-n, 1.570796371f, x), turned = __builtin_fmaf(n, 4.371122486e-8f, first);
    const float left = __builtin_fmaf(n, 1.651399557e-13f, __builtin_fmaf(n, 4.371122486e-8f, first - turned));
    const float s = turned * turned, half = 0.5f * s, rest = 1.0f - half;
    const float p = (-1.95146319e-4f * s + 8.33215605e-3f) * s - 1.66666545e-1f;
    const float q = (2.44324129e-5f * s - 1.38873099e-3f) * s + 4.16666456e-2f;
    const float sine = turned + (turned * s * p + left), cosine = rest + ((1.0f - rest - half) + (s * s * q - turned * left));
    const uint32_t quadrant = bits_of(shifted) + (uint32_t)quarters;
    return float_of(bits_of(quadrant & 1 ? cosine : sine) ^ (quadrant & 2) << 30);
}
#endif

/* erf(x), within 1.25 ulp; NaN for NaN.  Up to 0.93 x + x p(x^2) (2^-31); from there 1 - exp(-t q(t)), t = |x| (2^-28.3), which is 1
 * from 4 on. */
static inline float erf_lane(float x) {
    const float size = size_of(x), t = size > 4.0f ? 4.0f : size, s = x * x;
    float p = 8.31678779e-5f;
    p = p * s - 8.13001625e-4f;
    p = p * s + 5.19990706e-3f;
    p = p * s - 2.68589417e-2f;
    p = p * s + 1.12836872e-1f;
    p = p * s - 3.76126332e-1f;
    p = p * s + 1.28379167e-1f;
    float q = -2.13532007e-4f;
    q = q * t + 3.21131068e-3f;
    q = q * t - 2.28785895e-2f;
    q = q * t + 1.05244631e-1f;
    q = q * t + 6.35730953e-1f;
    q = q * t + 1.12851076f;
    const float far = 1.0f - exp_lane(-t * q);
    const float y = size < 0.93f ? size * p + size : far;
    return x != x ? x : float_of(bits_of(y) | (bits_of(x) & 0x80000000u));
}

/* log2(x) of a finite x > 0 that is a normal double: x = 2^e m, sqrt(1/2) <= m < sqrt(2), s = (m - 1) / (m + 1), log2(m) =
 * s p(s^2), within 2^-37 of itself. */
static inline double log2_wide(double x) {
    const int32_t e = ((int32_t)(bits_of_double(x) >> 32) - 0x3fe6a09e) >> 20;
    const double m = double_of(bits_of_double(x) - ((uint64_t)(int64_t)e << 52)), s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 0.340729474423743;
    p = p * z + 0.4116727550428401;
    p = p * z + 0.5770835842986571;
    p = p * z + 0.9617966733461881;
    p = p * z + 2.885390081790079;
    return s * p + (double)e;
}

/* 2^x, within 2^-34 of itself; as for the nearest of -1000 and 1000 beyond these. */
static inline double exp2_wide(double x) {
    const double within = x > 1000.0 ? 1000.0 : x < -1000.0 ? -1000.0 : x, n = nearest(within), f = within - n;
    double p = 1.5196156619268208e-05;
    p = p * f + 0.00015466756326054827;
    p = p * f + 0.0013333935055284407;
    p = p * f + 0.009618038132029525;
    p = p * f + 0.05550410365991676;
    p = p * f + 0.24022651066561332;
    p = p * f + 0.6931471807045322;
    return (p * f + 1.0) * double_of((uint64_t)((int64_t)(int32_t)n + 1023) << 52);
}

/* a^b of finite numbers, a other than 0, within 0.51 ulp: NaN for a below 0 and b that is not whole. */
static inline float power_lane(float a, float b) {
    const float size = size_of(a), half = 0.5f * b, y = (float)exp2_wide((double)b * log2_wide((double)size));
    const float below = rintf(b) != b ? float_of(0x7fc00000u) : rintf(half) != half ? -y : y;
    return a < 0.0f ? below : y;
}

#endif
