/* Functions of one and of two numbers along runs, and runs joined to one number: what the operations on strided tensors are
 * made of.  Each table's order is that of the numbers in assayer.h; what other files have is taken from the table they filled. */
#include "functions.h"
#include "names.h"
#include "vec.h"

#include <assayer.h>

#define MAP(name, expression)                                                                                              \
    static void name(int64_t n, const float* restrict in, float* restrict y) {                                             \
        SIMD for (int64_t i = 0; i < n; i++) {                                                                             \
            const float x = in[i];                                                                                         \
            y[i] = expression;                                                                                             \
        }                                                                                                                  \
    }
/* Of two runs; and of one number and a run, either way round. */
#define ZIP(name, expression)                                                                                              \
    static inline float name##_of(float a, float b) { return expression; }                                                 \
    static void name(int64_t n, const float* restrict left, const float* restrict right, float* restrict y) {              \
        SIMD for (int64_t i = 0; i < n; i++) y[i] = name##_of(left[i], right[i]);                                          \
    }                                                                                                                      \
    static void name##_of_left(int64_t n, const float* restrict left, const float* restrict right, float* restrict y) {    \
        const float a = *left;                                                                                             \
        SIMD for (int64_t i = 0; i < n; i++) y[i] = name##_of(a, right[i]);                                                \
    }                                                                                                                      \
    static void name##_of_right(int64_t n, const float* restrict left, const float* restrict right, float* restrict y) {   \
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

static void identity(int64_t n, const float* restrict in, float* restrict y) { memcpy(y, in, (size_t)n * sizeof(float)); }
MAP(negative, -x)
MAP(absolute, fabsf(x))
MAP(sign, x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x)
MAP(whole_below, floorf(x))
MAP(whole_above, ceilf(x))
MAP(nearest_whole, rintf(x))
MAP(square, x * x)
MAP(reciprocal, 1.0f / x)
MAP(root, sqrtf(x))
MAP(inverse_root, 1.0f / sqrtf(x))
MAP(exponential, exp_lane(x))
MAP(logarithm, log_lane(x))
MAP(softplus, softplus_lane(x))
MAP(error_function, erf_lane(x))

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

TURNED(sine, sine_lane, sinf)
TURNED(cosine, cosine_lane, cosf)

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

/* Sums and products are joined in double: a sum keeps its digits, and a product does not pass the largest float on its way.
 * The largest and the smallest are floats. */
enum { ABREAST = 64 }; /* joined side by side, as a single chain waits for each of its links */
/* Floats of a cache line, and how far ahead a run asks for them: the processor's own foresight ends at the page, and behind a run
 * the next one is likely to lie.  Sums of rows of a page are as quick again; from 16 KiB ahead they are a sixth quicker than from 4
 * (Zen 5), and a third than from 1 or 2. */
enum { LINE = 16, AHEAD = 4096 };
enum { COLUMNS = 1024 }; /* joined side by side, in floats that the closest cache holds */

#define ASK_AHEAD(in)                                                                                                      \
    for (int j = 0; j < ABREAST; j += LINE) PREFETCH((uintptr_t)(in) + (AHEAD + j) * sizeof(float))

/* What each ABREASTth number joins to; how many numbers that were.  Compilers widen floats by way of whole registers of them,
 * which takes longer than the sums: here they are widened as they are read. */
#define ABREAST_IN_DOUBLE(name, expression)                                                                                \
    static int64_t name##_abreast(int64_t n, const float* in, double* joined) {                                            \
        wide totals[ABREAST / WIDE_LANES];                                                                                 \
        int64_t i = ABREAST;                                                                                               \
        for (int j = 0; j < ABREAST / WIDE_LANES; j++) totals[j] = WIDENED(in + j * WIDE_LANES);                           \
        for (; i + ABREAST <= n; i += ABREAST) {                                                                           \
            ASK_AHEAD(in + i);                                                                                             \
            UNROLLED for (int j = 0; j < ABREAST / WIDE_LANES; j++) {                                                      \
                const wide total = totals[j], x = WIDENED(in + i + j * WIDE_LANES);                                        \
                totals[j] = expression;                                                                                    \
            }                                                                                                              \
        }                                                                                                                  \
        memcpy(joined, totals, sizeof totals);                                                                             \
        return i;                                                                                                          \
    }
#define ABREAST_IN_FLOAT(name)                                                                                             \
    static int64_t name##_abreast(int64_t n, const float* in, float* joined) {                                             \
        int64_t i = ABREAST;                                                                                               \
        SIMD for (int j = 0; j < ABREAST; j++) joined[j] = in[j];                                                          \
        for (; i + ABREAST <= n; i += ABREAST) {                                                                           \
            ASK_AHEAD(in + i);                                                                                             \
            SIMD for (int j = 0; j < ABREAST; j++) joined[j] = name##_two(joined[j], in[i + j]);                           \
        }                                                                                                                  \
        return i;                                                                                                          \
    }

#define COLUMNS_IN_DOUBLE(name)                                                                                            \
    static void name##_columns(int64_t n, int64_t rows, int64_t row, const float* restrict in, double* restrict joined) {  \
        for (; rows >= 4; rows -= 4, in += 4 * row)                                                                        \
            SIMD for (int64_t i = 0; i < n; i++) {                                                                         \
                const double first = name##_two((double)in[i], (double)in[row + i]);                                       \
                const double second = name##_two((double)in[2 * row + i], (double)in[3 * row + i]);                        \
                joined[i] = name##_two(joined[i], name##_two(first, second));                                              \
            }                                                                                                              \
        for (; rows > 0; rows--, in += row)                                                                                \
            SIMD for (int64_t i = 0; i < n; i++) joined[i] = name##_two(joined[i], (double)in[i]);                         \
    }
/* In floats that lie close: what is joined is widened once for all rows, not in each. */
#define COLUMNS_IN_FLOAT(name)                                                                                             \
    static void name##_columns(int64_t n, int64_t rows, int64_t row, const float* restrict in, double* restrict joined) {  \
        float totals[COLUMNS];                                                                                             \
        if (rows == 1)                                                                                                     \
            SIMD for (int64_t i = 0; i < n; i++) joined[i] = (double)name##_two((float)joined[i], in[i]);                  \
        for (int64_t at = 0, length; rows > 1 && at < n; at += length) {                                                   \
            length = n - at < COLUMNS ? n - at : COLUMNS;                                                                  \
            SIMD for (int64_t i = 0; i < length; i++) totals[i] = (float)joined[at + i];                                   \
            for (int64_t r = 0; r < rows; r++)                                                                             \
                SIMD for (int64_t i = 0; i < length; i++) totals[i] = name##_two(totals[i], in[r * row + at + i]);         \
            SIMD for (int64_t i = 0; i < length; i++) joined[at + i] = (double)totals[i];                                  \
        }                                                                                                                  \
    }

#define JOINED(name, type, expression, abreast, columns)                                                                   \
    static inline type name##_two(type total, type x) { return expression; }                                               \
    static double name##_pair(double total, double x) { return expression; }                                               \
    abreast                                                                                                                \
    columns                                                                                                                \
    static double name##_run(int64_t n, const float* in, double start) {                                                   \
        type joined[ABREAST];                                                                                              \
        int64_t i = 0;                                                                                                     \
        if (n >= ABREAST) {                                                                                                \
            i = name##_abreast(n, in, joined);                                                                             \
            SIMD for (int j = 0; j < 32; j++) joined[j] = name##_two(joined[j], joined[32 + j]);                           \
            SIMD for (int j = 0; j < 16; j++) joined[j] = name##_two(joined[j], joined[16 + j]);                           \
            SIMD for (int j = 0; j < 8; j++) joined[j] = name##_two(joined[j], joined[8 + j]);                             \
            for (int j = 0; j < 4; j++) joined[j] = name##_two(joined[j], joined[4 + j]);                                  \
            const type left = name##_two(joined[0], joined[2]), right = name##_two(joined[1], joined[3]);                  \
            start = name##_pair(start, (double)name##_two(left, right));                                                   \
        }                                                                                                                  \
        for (; i < n; i++) start = name##_pair(start, (double)in[i]);                                                      \
        return start;                                                                                                      \
    }

JOINED(sum, double, total + x, ABREAST_IN_DOUBLE(sum, total + x), COLUMNS_IN_DOUBLE(sum))
JOINED(product, double, total * x, ABREAST_IN_DOUBLE(product, total * x), COLUMNS_IN_DOUBLE(product))
JOINED(largest, float, x > total || x != x ? x : total, ABREAST_IN_FLOAT(largest), COLUMNS_IN_FLOAT(largest))
JOINED(smallest, float, x < total || x != x ? x : total, ABREAST_IN_FLOAT(smallest), COLUMNS_IN_FLOAT(smallest))

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
    void (*const zips_of_one[2][ZIP_FUNCTIONS])(int64_t, const float*, const float*, float*) = {EITHER(_of_left), EITHER(_of_right)};
    const struct join joins[] = {{sum_columns, sum_run, sum_pair}, {product_columns, product_run, product_pair},
                                 {largest_columns, largest_run, largest_pair}, {smallest_columns, smallest_run, smallest_pair}};
    for (int i = 0; i < MAP_FUNCTIONS; i++) table->map[i] = maps[i];
    for (int i = 0; i < ZIP_FUNCTIONS; i++) table->zip[i] = zips[i];
    memcpy(table->zip_of_one, zips_of_one, sizeof zips_of_one);
    for (int i = 0; i < JOIN_FUNCTIONS; i++) table->join[i] = joins[i];
}
