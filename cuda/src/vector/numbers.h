/* Numbers of a matrix that is multiplied: floats, or of 16 bits, which are widened where they are copied.  The format is a constant
 * wherever these are inlined. */
#ifndef ASSAYER_NUMBERS_H
#define ASSAYER_NUMBERS_H

#include "half.h"
#include "vec.h"

#include <string.h>

enum format { FLOATS, BF16, FP16 };

/* Element (i, j) is number i * row + j * col; row or col is 1. */
struct numbers {
    const void* data;
    int64_t row, col;
};

ALWAYS_INLINE int64_t size_of_number(enum format format) { return format == FLOATS ? sizeof(float) : sizeof(uint16_t); }

ALWAYS_INLINE struct numbers numbers_from(enum format format, struct numbers m, int64_t i, int64_t j) {
    return (struct numbers){(const char*)m.data + (i * m.row + j * m.col) * size_of_number(format), m.row, m.col};
}

ALWAYS_INLINE float number_at(enum format format, const void* data, int64_t at) {
    if (format == FLOATS) return ((const float*)data)[at];
    const uint16_t bits = ((const uint16_t*)data)[at];
    return format == BF16 ? bf16_number(bits) : fp16_number(bits);
}

/* A few floats are copied faster than memcpy is called. */
ALWAYS_INLINE void copy_floats(int64_t n, const float* from, float* to) {
    enum { TOGETHER = 8, FEW = 8 * TOGETHER };
    int64_t i = 0;
    if (n > FEW) {
        memcpy(to, from, (size_t)n * sizeof(float));
        return;
    }
    for (; i + TOGETHER <= n; i += TOGETHER) memcpy(to + i, from + i, TOGETHER * sizeof(float));
    for (; i < n; i++) to[i] = from[i];
}

ALWAYS_INLINE void copy_numbers(enum format format, int64_t n, const void* data, int64_t at, float* restrict to) {
    if (format == FLOATS) copy_floats(n, (const float*)data + at, to);
    else SIMD for (int64_t i = 0; i < n; i++) to[i] = number_at(format, data, at + i);
}

/* A vector of numbers that lie together. */
ALWAYS_INLINE vec load_numbers(enum format format, const void* data, int64_t at) {
    if (format == FLOATS) return load((const float*)data + at);
#if defined(__AVX512F__)
    const __m256i bits = _mm256_loadu_si256((const __m256i*)(const void*)((const uint16_t*)data + at));
    if (format == FP16) return (vec)_mm512_cvtph_ps(bits);
    return (vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16);
#else
    float wide[LANES];
    copy_numbers(format, LANES, data, at, wide);
    return load(wide);
#endif
}

#endif
