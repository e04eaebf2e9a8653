/* Functions of one and of two numbers along runs: what the operations on strided tensors are made of.
 * Each table's order is that of the numbers in assayer.h; what other files have is taken from the table they filled. */
#include "functions.h"
#include "names.h"
#include "vec.h"

#include <assayer.h>

/* Little work for what is read and written: registers of half the length keep up with the caches, and of arrays that do not begin
 * with a line fewer of them lie across two (Zen 4: a tenth quicker). */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#define NARROW __attribute__((target("prefer-vector-width=256")))
#else
#define NARROW
#endif
#define WIDE

#define MAP(name, width, expression)                                                                                       \
    width static void name(int64_t n, const float* restrict in, float* restrict y) {                                       \
        SIMD for (int64_t i = 0; i < n; i++) {                                                                             \
            const float x = in[i];                                                                                         \
            y[i] = expression;                                                                                             \
        }                                                                                                                  \
    }
/* Of two runs; and of one number and a run, either way round. */
#define ZIP(name, expression)                                                                                              \
    static inline float name##_of(float a, float b) { return expression; }                                                 \
    NARROW static void name(int64_t n, const float* restrict left, const float* restrict right, float* restrict y) {       \
        SIMD for (int64_t i = 0; i < n; i++) y[i] = name##_of(left[i], right[i]);                                          \
    }                                                                                                                      \
    NARROW static void name##_of_left(int64_t n, const float* restrict left, const float* restrict right, float* restrict y) {\
        const float a = *left;                                                                                             \
        SIMD for (int64_t i = 0; i < n; i++) y[i] = name##_of(a, right[i]);                                                \
    }                                                                                                                      \
    NARROW static void name##_of_right(int64_t n, const float* restrict left, const float* restrict right, float* restrict y) {\
        const float b = *right;                                                                                            \
        SIMD for (int64_t i = 0; i < n; i++) y[i] = name##_of(left[i], b);                                                 \
    }

/* log(1 + exp(x)) = max(x, 0) + log(1 + e), e = exp(-|x|).  What the rounded sum s = 1 + e lost of e, log(s) lost of its own:
 * log(1 + e) = log(s) * e / (s - 1) (Goldberg 1991, theorem 4). */
static inline float softplus_lane(float x) {
    const float size = x < 0.0f ? -x : x, e = exp_lane(-size), s = 1.0f + e, kept = s - 1.0f;
    const float logarithm = kept > 0.0f ? log_lane(s) * (e / kept) : e;
    return (x < 0.0f ? 0.0f : x) + logarithm;
}

/* No memcpy: glibc's is one instruction, which on Zen 3 and 4 takes three times as long where y lies a little farther from the
 * beginning of a page than `in`, as large arrays of two allocations do. */
static void identity(int64_t n, const float* restrict in, float* restrict y) {
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        vec x[4];
        UNROLLED for (int j = 0; j < 4; j++) x[j] = load(in + i + j * LANES);
        UNROLLED for (int j = 0; j < 4; j++) store(y + i + j * LANES, x[j]);
    }
    for (; i < n; i++) y[i] = in[i];
}
MAP(negative, NARROW, -x)
MAP(absolute, NARROW, fabsf(x))
MAP(sign, NARROW, x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x)
MAP(whole_below, NARROW, floorf(x))
MAP(whole_above, NARROW, ceilf(x))
MAP(nearest_whole, NARROW, rintf(x))
MAP(square, NARROW, x * x)
MAP(reciprocal, NARROW, 1.0f / x)
MAP(root, NARROW, sqrtf(x))
MAP(inverse_root, NARROW, 1.0f / sqrtf(x))
#ifdef __AVX512F__
/* As exp_lane, but that 2^n is one instruction, which gives subnormal results and infinities of itself. */
static inline __m512 exp_register(__m512 x) {
    const __m512 lowest = _mm512_set1_ps(-104.0f), highest = _mm512_set1_ps(89.0f); /* past 2^-150, and past overflow */
    const __m512 clamped = _mm512_min_ps(highest, _mm512_max_ps(lowest, x));       /* a NaN stays */
    const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(clamped, _mm512_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 above = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), clamped), r = _mm512_fmadd_ps(n, _mm512_set1_ps(2.12194440e-4f), above);
    __m512 q = _mm512_fmadd_ps(_mm512_set1_ps(1.3814467e-3f), r, _mm512_set1_ps(8.3687810e-3f));
    q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(4.1668393e-2f));
    q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(1.6666520e-1f));
    q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(4.9999994e-1f));
    q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(_mm512_fmadd_ps(q, r, _mm512_set1_ps(1.0f)), n);
}

static void exponential(int64_t n, const float* restrict in, float* restrict y) {
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) _mm512_storeu_ps(y + i, exp_register(_mm512_loadu_ps(in + i)));
    const __mmask16 left = (__mmask16)((1u << (n - i)) - 1);
    _mm512_mask_storeu_ps(y + i, left, exp_register(_mm512_maskz_loadu_ps(left, in + i)));
}
#else
MAP(exponential, WIDE, exp_lane(x))
#endif
MAP(logarithm, WIDE, log_lane(x))
MAP(softplus, WIDE, softplus_lane(x))
MAP(error_function, WIDE, erf_lane(x))

ZIP(plus, a + b)
ZIP(subtract, a - b)
ZIP(times, a * b)
ZIP(quotient, a / b)
ZIP(larger, a > b || a != a ? a : b)
ZIP(smaller, a < b || a != a ? a : b)
ZIP(less, a < b ? 1.0f : 0.0f)
ZIP(less_equal, a <= b ? 1.0f : 0.0f)
ZIP(equal, a == b ? 1.0f : 0.0f)
ZIP(not_equal, a == b ? 0.0f : 1.0f)
ZIP(relu_backward, a <= 0.0f ? 0.0f : b)
ZIP(root_backward, b / (2.0f * a))

/* Angles that a lane does not turn back, infinities and NaN are few: they are looked for, and taken one by one. */
#define TURNED(name, lane, exact)                                                                                          \
    static void name(int64_t n, const float* restrict in, float* restrict y) {                                             \
        int32_t beyond = 0;                                                                                                \
        SIMD_ANY(beyond) for (int64_t i = 0; i < n; i++) {                                                                 \
            beyond |= !(size_of(in[i]) <= MOST_ANGLE);                                                                     \
            y[i] = lane(in[i]);                                                                                            \
        }                                                                                                                  \
        for (int64_t i = 0; beyond && i < n; i++)                                                                          \
            if (!(size_of(in[i]) <= MOST_ANGLE)) y[i] = exact(in[i]);                                                      \
    }

#ifdef __FMA__
/* Pieces of angles that are near alone are turned back in floats. */
enum { ANGLES = 512 };
#define TURNED_NEAR(name, quarters, of_any)                                                                                \
    static int32_t name##_near(int64_t n, const float* restrict in, float* restrict y) {                                   \
        int32_t beyond = 0;                                                                                                \
        SIMD_ANY(beyond) for (int64_t i = 0; i < n; i++) {                                                                 \
            const float x = in[i];                                                                                         \
            beyond |= !(size_of(x) <= NEAR_ANGLE);                                                                         \
            y[i] = x == 0.0f && quarters == 0 ? x : near_turned_sine_lane(x, quarters);                                    \
        }                                                                                                                  \
        return !beyond;                                                                                                    \
    }                                                                                                                      \
    static void name(int64_t n, const float* in, float* y) {                                                               \
        for (int64_t at = 0, length; at < n; at += length) {                                                               \
            length = n - at < ANGLES ? n - at : ANGLES;                                                                    \
            if (!name##_near(length, in + at, y + at)) of_any(length, in + at, y + at);                                    \
        }                                                                                                                  \
    }
TURNED(sine_of_any, sine_lane, sinf)
TURNED(cosine_of_any, cosine_lane, cosf)
TURNED_NEAR(sine, 0, sine_of_any)
TURNED_NEAR(cosine, 1, cosine_of_any)
#else
TURNED(sine, sine_lane, sinf)
TURNED(cosine, cosine_lane, cosf)
#endif

static inline int32_t is_finite(float x) { return size_of(x) <= 3.40282347e+38f; }
static inline int32_t has_power_lane(float a, float b) { return (a != 0.0f) & is_finite(a) & is_finite(b); }

static void power(int64_t n, const float* restrict left, const float* restrict right, float* restrict y) {
    int32_t beyond = 0;
    SIMD_ANY(beyond) for (int64_t i = 0; i < n; i++) {
        const int32_t has_lane = has_power_lane(left[i], right[i]);
        beyond |= !has_lane;
        y[i] = power_lane(has_lane ? left[i] : 1.0f, has_lane ? right[i] : 1.0f);
    }
    for (int64_t i = 0; beyond && i < n; i++)
        if (!has_power_lane(left[i], right[i])) y[i] = powf(left[i], right[i]);
}

void NAME(fill_strided)(struct simd* table) {
    void (*const maps[])(int64_t, const float*, float*) = {
        identity, negative, absolute, sign, whole_below, whole_above, nearest_whole, square, reciprocal, root, inverse_root,
        exponential, logarithm, sine, cosine, table->tanh, table->sigmoid, table->silu, softplus, error_function, table->relu,
        table->gelu, table->gelu_tanh};
    void (*const zips[])(int64_t, const float*, const float*, float*) = {
        plus, subtract, times, quotient, power, larger, smaller, less, less_equal, equal, not_equal, relu_backward,
        table->sigmoid_backward, table->tanh_backward, root_backward, table->gelu_backward};
#define EITHER(side)                                                                                                       \
    {plus##side, subtract##side, times##side, quotient##side, NULL, larger##side, smaller##side, less##side,               \
     less_equal##side, equal##side, not_equal##side, relu_backward##side, NULL, NULL, root_backward##side, NULL}
    void (*const of_left[])(int64_t, const float*, const float*, float*) = EITHER(_of_left);
    void (*const of_right[])(int64_t, const float*, const float*, float*) = EITHER(_of_right);
    for (int i = 0; i < MAP_FUNCTIONS; i++) table->map[i] = maps[i];
    for (int i = 0; i < ZIP_FUNCTIONS; i++) table->zip[i] = zips[i];
    for (int i = 0; i < ZIP_FUNCTIONS; i++) table->zip_of_one[0][i] = of_left[i];
    for (int i = 0; i < ZIP_FUNCTIONS; i++) table->zip_of_one[1][i] = of_right[i];
}
