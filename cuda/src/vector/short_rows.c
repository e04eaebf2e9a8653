/* Short rows of a width that the compiler knows, which makes straight code of them: to call a routine for each step of a row of 8
 * takes longer than the steps. */
#include "math.h"
#include "names.h"
#include "vec.h"

#include <math.h>

/* A NaN makes all of its row NaN, by the sum. */
ALWAYS_INLINE void softmax_of(int width, int64_t rows, const float* x, float* y) {
    for (; rows > 0; rows--, x += width, y += width) {
        float e[SHORT_ROW], max = -INFINITY, total = 0;
        SIMD_LARGEST(max) for (int j = 0; j < width; j++) max = x[j] > max ? x[j] : max;
        SIMD_SUM(total) for (int j = 0; j < width; j++) {
            e[j] = exp_lane(x[j] - max);
            total += e[j];
        }
        const float factor = 1 / total;
        SIMD for (int j = 0; j < width; j++) y[j] = e[j] * factor;
    }
}

ALWAYS_INLINE void softmax_backward_of(int width, int64_t rows, const float* y, const float* dy, float* dx) {
    for (; rows > 0; rows--, y += width, dy += width, dx += width) {
        float inner = 0;
        SIMD_SUM(inner) for (int j = 0; j < width; j++) inner += y[j] * dy[j];
        SIMD for (int j = 0; j < width; j++) dx[j] = y[j] * (dy[j] - inner);
    }
}

#define FOR_KNOWN_WIDTHS(n, CASE) switch (n) { CASE(4) CASE(8) CASE(16) CASE(32) CASE(SHORT_ROW) default: return false; }

static bool softmax_short(int64_t rows, int64_t n, const float* x, float* y) {
#define ROWS(width) case width: softmax_of(width, rows, x, y); return true;
    FOR_KNOWN_WIDTHS(n, ROWS)
#undef ROWS
}

static bool softmax_short_backward(int64_t rows, int64_t n, const float* y, const float* dy, float* dx) {
#define ROWS(width) case width: softmax_backward_of(width, rows, y, dy, dx); return true;
    FOR_KNOWN_WIDTHS(n, ROWS)
#undef ROWS
}

void NAME(fill_short_rows)(struct simd* table) {
    table->softmax_short = softmax_short;
    table->softmax_short_backward = softmax_short_backward;
}
