/* Runs joined to one number, and columns side by side: what reductions of strided tensors are made of. */
#include "math.h"
#include "names.h"
#include "vec.h"

#include <string.h>

/* Products are joined in double, and do not pass the largest float on their way; so are sums, of fours that are summed in float.
 * The largest and the smallest are floats. */
enum { ABREAST = 64 }; /* joined side by side, as a single chain waits for each of its links */
/* The processor's own foresight ends at the page, and behind a run the next one is likely to lie: in the first lines of a page
 * those of the next one are asked for, from where it goes on by itself.  To ask for every line, 16 KiB ahead, makes sums of rows twice
 * as quick as to ask for none on a Zen 5 (this was not measured there), and a fifth slower on a Zen 4, whose caches deliver faster
 * than such a loop asks. */
enum { LINE = 16, PAGE = 4096, FIRST = 512 }; /* floats; bytes */
enum { COLUMNS = 1024 }; /* joined side by side, in floats that the closest cache holds */

#define ASK_AHEAD(in)                                                                                                      \
    if ((uintptr_t)(in) % PAGE < FIRST)                                                                                    \
        for (int j = 0; j < ABREAST; j += LINE) PREFETCH((uintptr_t)(in) + PAGE + j * sizeof(float))

/* What the first ABREAST numbers and those behind them, as many at a time, join to; *done says how many they are.  Compilers widen
 * floats by way of whole registers of them, which takes longer than the sums: here they are widened as they are read. */
#define ABREAST_IN_DOUBLE(name, expression)                                                                                \
    static inline wide name##_wide(wide total, wide x) { return expression; }                                              \
    static double name##_abreast(int64_t n, const float* in, int64_t* done) {                                              \
        wide totals[ABREAST / WIDE_LANES];                                                                                 \
        double joined[WIDE_LANES];                                                                                         \
        int64_t i = ABREAST;                                                                                               \
        UNROLLED for (int j = 0; j < ABREAST / WIDE_LANES; j++) totals[j] = WIDENED(in + j * WIDE_LANES);                  \
        for (; i + ABREAST <= n; i += ABREAST) {                                                                           \
            ASK_AHEAD(in + i);                                                                                             \
            UNROLLED for (int j = 0; j < ABREAST / WIDE_LANES; j++) totals[j] = name##_wide(totals[j], WIDENED(in + i + j * WIDE_LANES));\
        }                                                                                                                  \
        UNROLLED for (int k = 1; k < ABREAST / WIDE_LANES; k *= 2)                                                         \
            UNROLLED for (int j = 0; j + k < ABREAST / WIDE_LANES; j += 2 * k) totals[j] = name##_wide(totals[j], totals[j + k]);\
        memcpy(joined, totals, sizeof joined);                                                                             \
        UNROLLED for (int half = WIDE_LANES / 2; half > 0; half /= 2)                                                      \
            UNROLLED for (int j = 0; j < half; j++) joined[j] = name##_two(joined[j], joined[half + j]);                   \
        *done = i;                                                                                                         \
        return joined[0];                                                                                                  \
    }
/* By whole registers to the end: a comparison of two single numbers is a branch, which no processor foresees. */
#define ABREAST_IN_FLOAT(name, two)                                                                                        \
    static double name##_abreast(int64_t n, const float* in, int64_t* done) {                                              \
        vec totals[ABREAST / LANES];                                                                                       \
        int64_t i = ABREAST;                                                                                               \
        UNROLLED for (int j = 0; j < ABREAST / LANES; j++) totals[j] = load(in + j * LANES);                               \
        for (; i + ABREAST <= n; i += ABREAST) {                                                                           \
            ASK_AHEAD(in + i);                                                                                             \
            UNROLLED for (int j = 0; j < ABREAST / LANES; j++) totals[j] = two(totals[j], load(in + i + j * LANES));       \
        }                                                                                                                  \
        UNROLLED for (int half = ABREAST / LANES / 2; half > 0; half /= 2)                                                 \
            UNROLLED for (int j = 0; j < half; j++) totals[j] = two(totals[j], totals[half + j]);                          \
        vec all = totals[0]; /* each step leaves half as many different numbers, twice each */                             \
        UNROLLED for (int left = LANES; left > 1; left /= 2) all = two(ZIP_LOW(all, all), ZIP_HIGH(all, all));             \
        *done = i;                                                                                                         \
        return (double)ELEMENT(all, 0);                                                                                    \
    }

#define COLUMNS_IN_DOUBLE(name)                                                                                            \
    static void name##_columns(int64_t n, int64_t rows, int64_t row, const float* restrict in, double* restrict joined) {  \
        for (; rows >= 8; rows -= 8, in += 8 * row) {                                                                      \
            int64_t i = 0;                                                                                                 \
            for (; i + WIDE_LANES <= n; i += WIDE_LANES) {                                                                 \
                wide x[8];                                                                                                 \
                UNROLLED for (int k = 0; k < 8; k++) x[k] = WIDENED(in + k * row + i);                                     \
                UNROLLED for (int k = 0; k < 4; k++) x[k] = name##_wide(x[k], x[4 + k]);                                   \
                const wide eight = name##_wide(name##_wide(x[0], x[2]), name##_wide(x[1], x[3]));                          \
                *(wide_anywhere*)(joined + i) = name##_wide(*(const wide_anywhere*)(joined + i), eight);                   \
            }                                                                                                              \
            for (; i < n; i++)                                                                                             \
                for (int k = 0; k < 8; k++) joined[i] = name##_two(joined[i], (double)in[k * row + i]);                    \
        }                                                                                                                  \
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
    static inline double name##_both(double total, double x) { return expression; }                                        \
    static void name##_pairs(int64_t n, const double* restrict x, double* restrict joined) {                               \
        SIMD for (int64_t i = 0; i < n; i++) joined[i] = name##_both(joined[i], x[i]);                                      \
    }                                                                                                                      \
    static void name##_with(int64_t n, const double* joined, double times, double start, double divisor, float* y) {        \
        SIMD for (int64_t i = 0; i < n; i++) y[i] = (float)(name##_both(joined[i] * times, start) / divisor);               \
    }                                                                                                                      \
    abreast                                                                                                                \
    columns                                                                                                                \
    static double name##_run(int64_t n, const float* in, double start) {                                                   \
        int64_t i = 0;                                                                                                     \
        if (n >= ABREAST) {                                                                                                \
            const double joined = name##_abreast(n, in, &i);                                                               \
            start = name##_both(start, joined);                                                                            \
        }                                                                                                                  \
        for (; i < n; i++) start = name##_both(start, (double)in[i]);                                                      \
        return start;                                                                                                      \
    }

JOINED(sum, double, total + x, ABREAST_IN_DOUBLE(sum, total + x), COLUMNS_IN_DOUBLE(sum))
JOINED(product, double, total * x, ABREAST_IN_DOUBLE(product, total * x), COLUMNS_IN_DOUBLE(product))
JOINED(largest, float, x != x ? x : x > total ? x : total, ABREAST_IN_FLOAT(largest, vec_max), COLUMNS_IN_FLOAT(largest))
JOINED(smallest, float, x != x ? x : x < total ? x : total, ABREAST_IN_FLOAT(smallest, vec_min), COLUMNS_IN_FLOAT(smallest))

/* Sums of fours of numbers in floats, and of the fours in doubles, as widening takes longer than adding.  Where a four is past the
 * largest float, what is returned is no finite number: then all is to be summed once more, in double alone. */
static inline void add_fours(const float* in, int64_t step, float* fours) {
    enum { VECTORS = ABREAST / 4 / LANES };
    UNROLLED for (int j = 0; j < VECTORS; j++) {
        const float* const at = in + j * LANES;
        store(fours + j * LANES, (load(at) + load(at + step)) + (load(at + 2 * step) + load(at + 3 * step)));
    }
}

static double sum_by_fours(int64_t n, const float* in, double start) {
    enum { FOURS = ABREAST / 4, WIDES = FOURS / WIDE_LANES };
    wide totals[WIDES];
    double joined[WIDE_LANES];
    float fours[FOURS];
    int64_t i = 0;
    UNROLLED for (int j = 0; j < WIDES; j++) totals[j] = (wide){0};
    for (; i + ABREAST <= n; i += ABREAST) {
        ASK_AHEAD(in + i);
        add_fours(in + i, FOURS, fours);
        UNROLLED for (int j = 0; j < WIDES; j++) totals[j] += WIDENED(fours + j * WIDE_LANES);
    }
    UNROLLED for (int j = 1; j < WIDES; j++) totals[0] += totals[j];
    memcpy(joined, totals, sizeof joined);
    UNROLLED for (int half = WIDE_LANES / 2; half > 0; half /= 2)
        UNROLLED for (int j = 0; j < half; j++) joined[j] += joined[half + j];
    start += joined[0];
    for (; i < n; i++) start += (double)in[i];
    return start;
}

static void sum_columns_by_fours(int64_t n, int64_t rows, int64_t row, const float* restrict in, double* restrict joined) {
    enum { FOURS = ABREAST / 4 };
    float upper[FOURS], lower[FOURS];
    for (; rows >= 8; rows -= 8, in += 8 * row) {
        int64_t i = 0;
        for (; i + FOURS <= n; i += FOURS) {
            add_fours(in + i, row, upper);
            add_fours(in + i + 4 * row, row, lower);
            UNROLLED for (int j = 0; j < FOURS; j += WIDE_LANES) {
                wide_anywhere* const to = (wide_anywhere*)(joined + i + j);
                *to += WIDENED(upper + j) + WIDENED(lower + j);
            }
        }
        for (; i < n; i++)
            for (int k = 0; k < 8; k++) joined[i] += (double)in[k * row + i];
    }
    sum_columns(n, rows, row, in, joined);
}

void NAME(fill_joins)(struct simd* table) {
    const struct join joins[] = {{sum_columns_by_fours, sum_by_fours, sum_pairs, sum_with},
                                 {product_columns, product_run, product_pairs, product_with},
                                 {largest_columns, largest_run, largest_pairs, largest_with},
                                 {smallest_columns, smallest_run, smallest_pairs, smallest_with},
                                 {sum_columns, sum_run, sum_pairs, sum_with}};
    for (int i = 0; i < JOIN_FUNCTIONS; i++) table->join[i] = joins[i];
}
