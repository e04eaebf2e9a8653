/* Arrays of 16-bit numbers widened, and rounded: to nearest, or at random. */
#include "half.h"
#include "../random.h"
#include "names.h"

static void widen_bf16(int64_t n, const uint16_t* restrict x, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = bf16_number(x[i]);
}

static void narrow_bf16(int64_t n, const float* restrict x, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = bf16_bits(x[i]);
}

static void widen_fp16(int64_t n, const uint16_t* restrict x, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = fp16_number(x[i]);
}

static void narrow_fp16(int64_t n, const float* restrict x, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = fp16_bits(x[i]);
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
    table->bf16.widen = widen_bf16;
    table->bf16.narrow = narrow_bf16;
    table->bf16.draw = draw_bf16;
    table->fp16.widen = widen_fp16;
    table->fp16.narrow = narrow_fp16;
    table->fp16.draw = draw_fp16;
}
