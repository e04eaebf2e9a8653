/* 16-bit formats: conversions in whole numbers and one product or sum, so that they become vector instructions. */
#include "../random.h"
#include "math.h"
#include "names.h"

static void widen_bf16(int64_t n, const uint16_t* restrict x, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = float_of((uint32_t)x[i] << 16);
}

/* To nearest even by carrying into what is kept; a NaN stays one. */
static void narrow_bf16(int64_t n, const float* restrict x, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = bits_of(x[i]), nearest = bits + 0x7fff + (bits >> 16 & 1);
        y[i] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : nearest >> 16);
    }
}

enum { FP16_FRACTION = 10, DROPPED = 23 - FP16_FRACTION };

/* The fraction and exponent of float16 at float32's places are the number times 2^-112, subnormal ones too. */
static void widen_fp16(int64_t n, const uint16_t* restrict x, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const uint32_t magnitude = x[i] & 0x7fff, sign = (uint32_t)(x[i] & 0x8000) << 16;
        const uint32_t number = bits_of(float_of(magnitude << DROPPED) * 0x1p112f);
        const uint32_t special = 0x7f800000 | magnitude << DROPPED; /* infinity, NaN */
        y[i] = float_of(sign | (magnitude >= 0x7c00 ? special : number));
    }
}

/* The one that counts of what a float32 number becomes as a subnormal and as a normal one. */
static inline uint16_t fp16_of(uint32_t bits, uint32_t subnormal, uint32_t normal) {
    const uint32_t magnitude = bits & 0x7fffffff, special = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
    const uint32_t finite = magnitude < 0x38800000 ? subnormal : normal;
    return (uint16_t)((bits >> 16 & 0x8000) | (magnitude >= 0x47800000 ? special : finite));
}

/* Below the smallest normal number, 2^-14, the spacing is that of float32 between 0.5 and 1: adding 0.5 rounds. */
static void narrow_fp16(int64_t n, const float* restrict x, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = bits_of(x[i]), magnitude = bits & 0x7fffffff;
        const uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000;
        const uint32_t rounded = magnitude + ((1u << (DROPPED - 1)) - 1) + (magnitude >> DROPPED & 1);
        y[i] = fp16_of(bits, subnormal, (rounded >> DROPPED) - (112u << FP16_FRACTION));
    }
}

/* The upper 16 bits of word n of a seed. */
static inline uint32_t draw_of(uint64_t seed, int64_t n) { return (uint32_t)(random_word(seed, n) >> 48); }

static void draw_bf16(int64_t n, const float* restrict x, uint64_t seed, int64_t first, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = bits_of(x[i]), drawn = bits + draw_of(seed, first + i);
        y[i] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : drawn >> 16);
    }
}

/* A draw has three bits more than are dropped of a normal number; a subnormal one counts in units of 2^-24. */
static void draw_fp16(int64_t n, const float* restrict x, uint64_t seed, int64_t first, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = bits_of(x[i]), magnitude = bits & 0x7fffffff, r = draw_of(seed, first + i);
        const float units = magnitude < 0x38800000 ? float_of(magnitude) * 0x1p24f : 0.0f;
        const uint32_t whole = (uint32_t)units;
        const uint32_t subnormal = whole + (((uint32_t)((units - (float)whole) * 0x1p16f) + r) >> 16);
        y[i] = fp16_of(bits, subnormal, ((magnitude + (r >> 3)) >> DROPPED) - (112u << FP16_FRACTION));
    }
}

void NAME(fill_half)(struct simd* table) {
    table->bf16 = (struct half){widen_bf16, narrow_bf16, draw_bf16};
    table->fp16 = (struct half){widen_fp16, narrow_fp16, draw_fp16};
}
