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

/* x[i * stride] is the one at `place` of window i. */
ALWAYS_INLINE void take_larger(int64_t n, const float* restrict x, int64_t stride, int32_t place, float* restrict largest,
                               int32_t* restrict places) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const int larger = is_larger(x[i * stride], largest[i]);
        largest[i] = larger ? x[i * stride] : largest[i];
        places[i] = larger ? place : places[i];
    }
}

/* What lies around the rows is less than every number, or equal to the first: it is never taken. */
static void fill_frame(const struct pool* p, const struct framed* f, const float* x, float* frame) {
    const int64_t inside = lesser(p->columns.size, f->width - f->lead);
    SIMD for (int64_t i = 0; i < p->rows.size * f->width + f->places; i++) frame[i] = -INFINITY;
    for (int64_t h = 0; h < p->rows.size; h++)
        memcpy(frame + h * f->width + f->lead, x + h * p->columns.size, (size_t)inside * sizeof(float));
}

/* Of every row the largest of each window's part in it, and its place in the window. */
static void largest_along_rows(const struct pool* p, const struct framed* f, const float* frame, float* largest, int32_t* places) {
    const int64_t n = p->rows.size * f->across;
    SIMD for (int64_t i = 0; i < n; i++) largest[i] = -INFINITY;
    memset(places, 0, (size_t)n * sizeof(int32_t));
    for (int64_t h = 0; h < p->rows.size; h++) /* where all are -infinity it is the first that is no padding */
        for (int64_t o = 0; o * f->stride < f->lead; o++) places[h * f->across + o] = (int32_t)(f->lead - o * f->stride);
    for (int64_t j = 0; j < f->places; j++) {
        if (f->stride == 1) take_larger(n, frame + j, 1, (int32_t)j, largest, places);
        else if (f->stride == 2) take_larger(n, frame + j, 2, (int32_t)j, largest, places);
        else take_larger(n, frame + j, f->stride, (int32_t)j, largest, places);
    }
}

/* `behind`: what a row's places are more than those of the row they are counted from. */
static void larger_of_rows(int64_t n, const float* restrict x, const int32_t* restrict from, int32_t behind, float* restrict largest,
                           int32_t* restrict places) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const int larger = is_larger(x[i], largest[i]);
        largest[i] = larger ? x[i] : largest[i];
        places[i] = larger ? from[i] + behind : places[i];
    }
}

/* memory: max_pool_memory. */
static void max_pool(const struct pool* p, const float* x, float* memory, float* y, int32_t* places) {
    const struct framed f = framed_side(&p->columns);
    const int64_t across = p->columns.windows;
    float *const frame = memory, *const of_rows = frame + p->rows.size * f.width + f.places;
    int32_t* const in_rows = (int32_t*)(of_rows + p->rows.size * f.across);
    fill_frame(p, &f, x, frame);
    largest_along_rows(p, &f, frame, of_rows, in_rows);
    for (int64_t o = 0; o < p->rows.windows; o++) {
        const struct span rows = covered(&p->rows, o);
        float* const to = y + o * across;
        int32_t* const to_places = places + o * across;
        memcpy(to, of_rows + rows.first * f.across, (size_t)across * sizeof(float));
        memcpy(to_places, in_rows + rows.first * f.across, (size_t)across * sizeof(int32_t));
        for (int64_t h = rows.first + 1; h < rows.end; h++)
            larger_of_rows(across, of_rows + h * f.across, in_rows + h * f.across, (int32_t)((h - rows.first) * p->columns.size), to, to_places);
        const int32_t start = (int32_t)(rows.first * p->columns.size - f.lead), stride = (int32_t)f.stride;
        SIMD for (int32_t i = 0; i < (int32_t)across; i++) to_places[i] += start + i * stride;
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
