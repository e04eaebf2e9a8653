/* Numbers at steps brought together into runs, and runs laid out at steps. */
#include "math.h"
#include "names.h"
#include "vec.h"

#include <string.h>
#ifdef __SSE__
#include <immintrin.h>
#endif

enum { LINE = 16 }; /* floats of a cache line */

/* Squares of LANES rows and columns turned over in registers, where the numbers of a column lie side by side; returns how many
 * columns are done. */
static int64_t turn(const float* restrict from, int64_t along, int64_t rows, int64_t columns, float* restrict to, int64_t to_row) {
    int64_t j = 0;
    for (; rows % LANES == 0 && j + LANES <= columns; j += LANES)
        for (int64_t i = 0; i < rows; i += LANES) {
            vec square[LANES];
            UNROLLED for (int k = 0; k < LANES; k++) square[k] = load(from + i + (j + k) * along);
            transpose(square);
            UNROLLED for (int k = 0; k < LANES; k++) store(to + (i + k) * to_row + j, square[k]);
        }
    return j;
}

/* Rows of runs, by the way along which the numbers lie closer. */
static void gather(const float* restrict from, int64_t along, int64_t down, int64_t rows, int64_t columns, float* restrict to,
                   int64_t to_row) {
    const int64_t step = along < 0 ? -along : along, step_down = down < 0 ? -down : down;
    if (step_down != 0 && step_down < step) {
        for (int64_t j = down == 1 ? turn(from, along, rows, columns, to, to_row) : 0; j < columns; j++)
            for (int64_t i = 0; i < rows; i++) to[i * to_row + j] = from[i * down + j * along];
    } else if (along == 0) {
        for (int64_t i = 0; i < rows; i++)
            SIMD for (int64_t j = 0; j < columns; j++) to[i * to_row + j] = from[i * down];
    } else if (along == 2) {
        for (int64_t i = 0; i < rows; i++)
            SIMD for (int64_t j = 0; j < columns; j++) to[i * to_row + j] = from[i * down + j * 2];
    } else if (along == -1) {
        for (int64_t i = 0; i < rows; i++)
            SIMD for (int64_t j = 0; j < columns; j++) to[i * to_row + j] = from[i * down - j];
    } else {
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) to[i * to_row + j] = from[i * down + j * along];
    }
}

static void scatter(const float* restrict from, int64_t along, int64_t columns, float* restrict to) {
    for (int64_t j = 0; j < columns; j++) to[j * along] = from[j];
}

/* Stores that go past the caches: a line that is written whole need not be read before. */
#if defined(__AVX512F__)
#define STREAM_LINE(from, to) _mm512_stream_ps(to, _mm512_loadu_ps(from))
#elif defined(__AVX__)
#define STREAM_LINE(from, to) \
    (_mm256_stream_ps(to, _mm256_loadu_ps(from)), _mm256_stream_ps((to) + 8, _mm256_loadu_ps((from) + 8)))
#elif defined(__SSE__)
#define STREAM_LINE(from, to) stream_line(from, to)
static inline void stream_line(const float* from, float* to) {
    for (int i = 0; i < LINE; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
}
#endif

#ifdef STREAM_LINE
static void stream(int64_t n, const float* restrict from, float* restrict to, uintptr_t next, uintptr_t other) {
    const int64_t before = (int64_t)(-(uintptr_t)to % (LINE * sizeof(float)) / sizeof(float));
    int64_t i = before < n ? before : n;
    memcpy(to, from, (size_t)i * sizeof(float));
    for (; i + LINE <= n; i += LINE) {
        PREFETCH(next + (uintptr_t)i * sizeof(float));
        PREFETCH(other + (uintptr_t)i * sizeof(float));
        STREAM_LINE(from + i, to + i);
    }
    memcpy(to + i, from + i, (size_t)(n - i) * sizeof(float));
}

/* Other threads see what was streamed before what is stored from here on. */
static void settle(void) { _mm_sfence(); }
#else
static void stream(int64_t n, const float* restrict from, float* restrict to, uintptr_t next, uintptr_t other) {
    (void)next, (void)other;
    memcpy(to, from, (size_t)n * sizeof(float));
}
static void settle(void) {}
#endif

void NAME(fill_layout)(struct simd* table) {
    table->gather = gather;
    table->scatter = scatter;
    table->stream = stream;
    table->settle = settle;
}
