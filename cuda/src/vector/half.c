/* 16-bit formats: conversions in whole numbers and one product or sum, so that they become vector instructions. */
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

/* Below the smallest normal number, 2^-14, the spacing is that of float32 between 0.5 and 1: adding 0.5 rounds. */
static void narrow_fp16(int64_t n, const float* restrict x, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = bits_of(x[i]), magnitude = bits & 0x7fffffff;
        const uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000;
        const uint32_t rounded = magnitude + ((1u << (DROPPED - 1)) - 1) + (magnitude >> DROPPED & 1);
        const uint32_t normal = (rounded >> DROPPED) - (112u << FP16_FRACTION);
        const uint32_t special = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
        const uint32_t finite = magnitude < 0x38800000 ? subnormal : normal;
        y[i] = (uint16_t)((bits >> 16 & 0x8000) | (magnitude >= 0x47800000 ? special : finite));
    }
}

void NAME(fill_half)(struct lanes* table) {
    table->bf16 = (struct half){widen_bf16, narrow_bf16};
    table->fp16 = (struct half){widen_fp16, narrow_fp16};
}
