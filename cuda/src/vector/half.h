/* One number of 16 bits as a float, and a float as one, to nearest even: in whole numbers and one product or sum, so that a loop over
 * them becomes vector instructions. */
#ifndef ASSAYER_VECTOR_HALF_H
#define ASSAYER_VECTOR_HALF_H

#include "math.h"

enum { FP16_FRACTION = 10, DROPPED = 23 - FP16_FRACTION };

static inline float bf16_number(uint16_t x) { return float_of((uint32_t)x << 16); }

/* To nearest even by carrying into what is kept; a NaN stays one. */
static inline uint16_t bf16_bits(float x) {
    const uint32_t bits = bits_of(x), nearest = bits + 0x7fff + (bits >> 16 & 1);
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : nearest >> 16);
}

/* The fraction and exponent of float16 at float32's places, the exponent's bias moved by 112.  A subnormal one is a fraction of 2^-14 with
 * nothing before its point: with the exponent of 2^-14 it is 2^-14 too large.  No operand is a subnormal float, with which some
 * processors take a hundred times as long. */
static inline float fp16_number(uint16_t x) {
    const uint32_t magnitude = (uint32_t)(x & 0x7fff) << DROPPED, sign = (uint32_t)(x & 0x8000) << 16;
    const uint32_t subnormal = bits_of(float_of(magnitude + 0x38800000) - 0x1p-14f);
    const uint32_t finite = magnitude < 1u << 23 ? subnormal : magnitude + 0x38000000;
    const uint32_t special = magnitude | 0x7f800000; /* infinity, NaN */
    return float_of(sign | (magnitude >= 0x0f800000 ? special : finite));
}

/* The one that counts of what a float32 number becomes as a subnormal and as a normal one. */
static inline uint16_t fp16_of(uint32_t bits, uint32_t subnormal, uint32_t normal) {
    const uint32_t magnitude = bits & 0x7fffffff, special = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
    const uint32_t finite = magnitude < 0x38800000 ? subnormal : normal;
    return (uint16_t)((bits >> 16 & 0x8000) | (magnitude >= 0x47800000 ? special : finite));
}

/* Below the smallest normal number, 2^-14, the spacing is that of float32 between 0.5 and 1: adding 0.5 rounds. */
static inline uint16_t fp16_bits(float x) {
    const uint32_t bits = bits_of(x), magnitude = bits & 0x7fffffff;
    const uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000;
    const uint32_t rounded = magnitude + ((1u << (DROPPED - 1)) - 1) + (magnitude >> DROPPED & 1);
    return fp16_of(bits, subnormal, (rounded >> DROPPED) - (112u << FP16_FRACTION));
}

#endif
