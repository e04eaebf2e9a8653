/* Pooling, a plane at a time: first along rows, then along columns, in both of which neighbours are computed together. */
#include "math.h"
#include "names.h"
#include "pooling.h"
#include "vec.h"

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

/* The largest of each window's part in a row that begins at `place` of its plane. */
static void largest_along_row(const struct side* s, const float* x, int32_t place, float* largest, int32_t* places) {
    for (int64_t o = 0; o < s->windows; o++) {
        largest[o] = -__builtin_inff();
        places[o] = place + (int32_t)covered(s, o).first;
    }
    const struct span all = filled(s);
    for (int64_t j = all.first; j < all.end; j++) {
        const struct span in = whole(s, j);
        const int64_t start = in.first * s->stride - s->pad + j;
        const int32_t n = (int32_t)(in.end - in.first), at = place + (int32_t)start;
        float* const to = largest + in.first;
        int32_t* const to_places = places + in.first;
        if (s->stride == 1) take_larger(n, x + start, 1, at, to, to_places);
        else if (s->stride == 2) take_larger(n, x + start, 2, at, to, to_places);
        else take_larger(n, x + start, (int32_t)s->stride, at, to, to_places);
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
    const int64_t across = p->columns.windows, width = p->columns.size;
    float* const of_rows = memory;
    int32_t* const in_rows = (int32_t*)(memory + p->rows.size * across);
    for (int64_t h = 0; h < p->rows.size; h++)
        largest_along_row(&p->columns, x + h * width, (int32_t)(h * width), of_rows + h * across, in_rows + h * across);
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

static void sums_along_row(const struct side* s, const float* x, float* sums) {
    const struct span all = filled(s);
    memset(sums, 0, (size_t)s->windows * sizeof(float));
    for (int64_t j = all.first; j < all.end; j++) {
        const struct span in = whole(s, j);
        const float* const from = x + in.first * s->stride - s->pad + j;
        if (s->stride == 1) add_strided(in.end - in.first, from, 1, sums + in.first);
        else if (s->stride == 2) add_strided(in.end - in.first, from, 2, sums + in.first);
        else add_strided(in.end - in.first, from, s->stride, sums + in.first);
    }
}

/* memory: (height + 1) * out_w. */
static void avg_pool(const struct pool* p, const float* x, float* memory, float* y) {
    const int64_t across = p->columns.windows;
    float *const by = memory, *const of_rows = memory + across;
    for (int64_t h = 0; h < p->rows.size; h++) sums_along_row(&p->columns, x + h * p->columns.size, of_rows + h * across);
    for (int64_t o = 0; o < p->rows.windows; o++) {
        const struct span rows = covered(&p->rows, o);
        float* const to = y + o * across;
        memcpy(to, of_rows + rows.first * across, (size_t)across * sizeof(float));
        for (int64_t h = rows.first + 1; h < rows.end; h++) add_strided(across, of_rows + h * across, 1, to);
        divisors(p, o, by);
        SIMD for (int64_t i = 0; i < across; i++) to[i] /= by[i];
    }
}

void NAME(fill_pooling)(struct simd* table) {
    table->max_pool = max_pool;
    table->avg_pool = avg_pool;
}
