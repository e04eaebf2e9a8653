/* Pooling, a plane at a time: first along rows, then along columns, in both of which neighbours are computed together. */
#include "math.h"
#include "names.h"
#include "pooling.h"
#include "vec.h"

#include <math.h>
#include <string.h>

/* ---- the largest --------------------------------------------------------------------------------------------------- */

/* A NaN is larger than every number, and of equal ones the one that was there first stays. */
static inline int is_larger(float x, float than) { return !(x <= than) & (than == than); }

/* x[i * stride] lies at place + i * stride. */
ALWAYS_INLINE void take_larger(int32_t n, const float* restrict x, int32_t stride, int32_t place, float* restrict largest,
                               int32_t* restrict places) {
    SIMD for (int32_t i = 0; i < n; i++) {
        const int larger = is_larger(x[i * stride], largest[i]);
        largest[i] = larger ? x[i * stride] : largest[i];
        places[i] = larger ? place + i * stride : places[i];
    }
}

/* Of every row the largest of each window's part in it, and its place. */
static void largest_along_rows(const struct pool* p, const float* x, float* largest, int32_t* places) {
    const struct side* const s = &p->columns;
    const int64_t across = s->windows, n = p->rows.size * across;
    for (int64_t o = 0; o < across; o++) places[o] = (int32_t)covered(s, o).first;
    for (int64_t h = 1; h < p->rows.size; h++)
        SIMD for (int64_t o = 0; o < across; o++) places[h * across + o] = places[o] + (int32_t)(h * s->size);
    SIMD for (int64_t i = 0; i < n; i++) largest[i] = -INFINITY;
    const struct span all = filled(s);
    for (int64_t j = all.first; j < all.end; j++) {
        const struct span in = whole(s, j);
        const int64_t start = in.first * s->stride - s->pad + j;
        const int32_t count = (int32_t)(in.end - in.first);
        for (int64_t h = 0; h < p->rows.size; h++) {
            const float* const from = x + h * s->size + start;
            const int32_t place = (int32_t)(h * s->size + start);
            float* const to = largest + h * across + in.first;
            int32_t* const to_places = places + h * across + in.first;
            if (s->stride == 1) take_larger(count, from, 1, place, to, to_places);
            else if (s->stride == 2) take_larger(count, from, 2, place, to, to_places);
            else take_larger(count, from, (int32_t)s->stride, place, to, to_places);
        }
    }
}

static void larger_of_rows(int64_t n, const float* restrict x, const int32_t* restrict from, float* restrict largest,
                           int32_t* restrict places) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const int larger = is_larger(x[i], largest[i]);
        largest[i] = larger ? x[i] : largest[i];
        places[i] = larger ? from[i] : places[i];
    }
}

/* memory: 2 * height * out_w. */
static void max_pool(const struct pool* p, const float* x, float* memory, float* y, int32_t* places) {
    const int64_t across = p->columns.windows;
    float* const of_rows = memory;
    int32_t* const in_rows = (int32_t*)(memory + p->rows.size * across);
    largest_along_rows(p, x, of_rows, in_rows);
    for (int64_t o = 0; o < p->rows.windows; o++) {
        const struct span rows = covered(&p->rows, o);
        memcpy(y + o * across, of_rows + rows.first * across, (size_t)across * sizeof(float));
        memcpy(places + o * across, in_rows + rows.first * across, (size_t)across * sizeof(int32_t));
        for (int64_t h = rows.first + 1; h < rows.end; h++)
            larger_of_rows(across, of_rows + h * across, in_rows + h * across, y + o * across, places + o * across);
    }
}

/* ---- the mean ------------------------------------------------------------------------------------------------------ */

ALWAYS_INLINE void add_strided(int64_t n, const float* restrict x, int64_t stride, float* restrict sums) {
    SIMD for (int64_t i = 0; i < n; i++) sums[i] += x[i * stride];
}

/* Of every row the sum of each window's part in it. */
static void sums_along_rows(const struct pool* p, const float* x, float* sums) {
    const struct side* const s = &p->columns;
    const struct span all = filled(s);
    memset(sums, 0, (size_t)(p->rows.size * s->windows) * sizeof(float));
    for (int64_t j = all.first; j < all.end; j++) {
        const struct span in = whole(s, j);
        for (int64_t h = 0; h < p->rows.size; h++) {
            const float* const from = x + h * s->size + in.first * s->stride - s->pad + j;
            float* const to = sums + h * s->windows + in.first;
            if (s->stride == 1) add_strided(in.end - in.first, from, 1, to);
            else if (s->stride == 2) add_strided(in.end - in.first, from, 2, to);
            else add_strided(in.end - in.first, from, s->stride, to);
        }
    }
}

/* memory: (height + 1) * out_w. */
static void avg_pool(const struct pool* p, const float* x, float* memory, float* y) {
    const int64_t across = p->columns.windows;
    float *const counts = memory, *const of_rows = memory + across;
    for (int64_t o = 0; o < across; o++) counts[o] = (float)counted(&p->columns, o, p->count_include_pad);
    sums_along_rows(p, x, of_rows);
    for (int64_t o = 0; o < p->rows.windows; o++) {
        const struct span rows = covered(&p->rows, o);
        const float down = (float)counted(&p->rows, o, p->count_include_pad);
        float* const to = y + o * across;
        memcpy(to, of_rows + rows.first * across, (size_t)across * sizeof(float));
        for (int64_t h = rows.first + 1; h < rows.end; h++) add_strided(across, of_rows + h * across, 1, to);
        SIMD for (int64_t i = 0; i < across; i++) to[i] /= down * counts[i];
    }
}

void NAME(fill_pooling)(struct simd* table) {
    table->max_pool = max_pool;
    table->avg_pool = avg_pool;
}
