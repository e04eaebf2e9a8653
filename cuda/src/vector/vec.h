/* One vector register.  GNU vector types where the compiler has them; elsewhere a vector of one float, with which the
 * same code is a plain scalar register tile. */
#ifndef ASSAYER_VEC_H
#define ASSAYER_VEC_H

#ifdef __AVX__
#include <immintrin.h>
#endif

#if !defined(__GNUC__) || defined(ASSAYER_NO_VECTORS)
#define LANES 1
typedef float vec;
typedef float vec_anywhere;
#define WIDE_LANES 1
typedef double wide;
typedef double wide_anywhere;
#define WIDENED(from) ((double)*(from))
#define ELEMENT(x, i) (x)
#else
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
typedef float vec __attribute__((vector_size(4 * LANES)));
/* The same at any address that a float may have. */
typedef float vec_anywhere __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
/* A register of doubles, made of as many floats. */
#define WIDE_LANES (LANES / 2)
typedef double wide __attribute__((vector_size(8 * WIDE_LANES)));
typedef double wide_anywhere __attribute__((vector_size(8 * WIDE_LANES), aligned(8), may_alias));
typedef float narrow_anywhere __attribute__((vector_size(4 * WIDE_LANES), may_alias, aligned(4)));
#if defined(__AVX512F__) /* gcc makes halves of halves of the conversion of vectors */
#define WIDENED(from) ((wide)_mm512_cvtps_pd(_mm256_loadu_ps(from)))
#elif defined(__AVX__)
#define WIDENED(from) ((wide)_mm256_cvtps_pd(_mm_loadu_ps(from)))
#else
#define WIDENED(from) __builtin_convertvector(*(const narrow_anywhere*)(from), wide)
#endif
#define ELEMENT(x, i) ((x)[i])
#endif

#if defined(__clang__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLLED _Pragma("unroll")
#elif defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLLED _Pragma("GCC unroll 16")
#else
#define ALWAYS_INLINE static inline
#define UNROLLED
#endif

ALWAYS_INLINE vec load(const float* from) { return *(const vec_anywhere*)from; }
ALWAYS_INLINE void store(float* to, vec x) { *(vec_anywhere*)to = x; }

/* The larger, and the smaller, of each two, and NaN where one of them is. */
#if LANES == 16
#define WITH_NANS_OF(x, chosen) ((vec)_mm512_mask_mov_ps(chosen, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x))
#define LARGER(x, total) WITH_NANS_OF(x, _mm512_max_ps(x, total)) /* which is total where either is NaN */
#define SMALLER(x, total) WITH_NANS_OF(x, _mm512_min_ps(x, total))
#elif LANES == 8
#define WITH_NANS_OF(x, chosen) ((vec)_mm256_blendv_ps(chosen, x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q)))
#define LARGER(x, total) WITH_NANS_OF(x, _mm256_max_ps(x, total))
#define SMALLER(x, total) WITH_NANS_OF(x, _mm256_min_ps(x, total))
#elif LANES > 1
typedef int32_t lane_bits __attribute__((vector_size(4 * LANES)));
#define CHOSEN(where, x, otherwise) ((vec)(((lane_bits)(x) & (where)) | ((lane_bits)(otherwise) & ~(where))))
#define LARGER(x, total) CHOSEN((x > total) | (x != x), x, total)
#define SMALLER(x, total) CHOSEN((x < total) | (x != x), x, total)
#else
#define LARGER(x, total) (x > total || x != x ? x : total)
#define SMALLER(x, total) (x < total || x != x ? x : total)
#endif
ALWAYS_INLINE vec vec_max(vec total, vec x) { return LARGER(x, total); }
ALWAYS_INLINE vec vec_min(vec total, vec x) { return SMALLER(x, total); }

/* The lower, or the upper, halves of a and b with their elements in turn: a0 b0 a1 b1 ... */
#if LANES > 1
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else /* gcc's older word for it */
typedef int lane_numbers __attribute__((vector_size(4 * LANES)));
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (lane_numbers){__VA_ARGS__})
#endif
#endif
#if LANES == 16
#define ZIP_LOW(a, b) SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define ZIP_HIGH(a, b) SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif LANES == 8
#define ZIP_LOW(a, b) SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_HIGH(a, b) SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif LANES == 4
#define ZIP_LOW(a, b) SHUFFLE(a, b, 0, 4, 1, 5)
#define ZIP_HIGH(a, b) SHUFFLE(a, b, 2, 6, 3, 7)
#else
#define ZIP_LOW(a, b) (a)
#define ZIP_HIGH(a, b) (b)
#endif

/* Transposes LANES vectors: zipping the first half with the second, log2(LANES) times, is a transposition (the bits of an
 * element's index rotate by one each time; Stone 1971, the perfect shuffle). */
ALWAYS_INLINE void transpose(vec x[LANES]) {
    UNROLLED for (int stage = 1; stage < LANES; stage *= 2) {
        vec zipped[LANES];
        UNROLLED for (int i = 0; i < LANES / 2; i++) {
            zipped[2 * i] = ZIP_LOW(x[i], x[i + LANES / 2]);
            zipped[2 * i + 1] = ZIP_HIGH(x[i], x[i + LANES / 2]);
        }
        UNROLLED for (int i = 0; i < LANES; i++) x[i] = zipped[i];
    }
}

#endif
