/* Which windows cover what: shared by pooling and its gradients. */
#ifndef ASSAYER_VECTOR_POOLING_H
#define ASSAYER_VECTOR_POOLING_H

#include "../pooling.h"

struct span {
    int64_t first, end;
};

static inline int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

/* The part of a window that is no padding. */
static inline struct span covered(const struct side* s, int64_t window) {
    const int64_t start = window * s->stride - s->pad;
    return (struct span){greater(start, 0), lesser(start + s->kernel, s->size)};
}

/* The windows that cover an index. */
static inline struct span covering(const struct side* s, int64_t at) {
    const int64_t reach = at + s->pad;
    const int64_t first = reach < s->kernel ? 0 : (reach - s->kernel) / s->stride + 1;
    return (struct span){first, lesser(reach / s->stride + 1, s->windows)};
}

/* The places of windows, counted from their start, that are no padding in some window. */
static inline struct span filled(const struct side* s) {
    return (struct span){greater(0, s->pad - (s->windows - 1) * s->stride), lesser(s->kernel, s->size + s->pad)};
}

/* The windows in which such a place is no padding. */
static inline struct span whole(const struct side* s, int64_t place) {
    const int64_t first = place < s->pad ? (s->pad - place + s->stride - 1) / s->stride : 0;
    return (struct span){first, lesser((s->size - 1 + s->pad - place) / s->stride + 1, s->windows)};
}

/* Rows of a plane with what lies around them, `width` apart: the windows of all rows are one loop, of which number i meets
 * the places from i * stride on, `places` of them; `across` of these belong to each row, the last ones to no window.  `lead`
 * places lie before the plane.  At most four times as wide as the plane, whatever the windows. */
struct framed {
    int64_t places, lead, stride, across, width;
};

static inline struct framed framed_side(const struct side* s) {
    const struct span all = filled(s);
    const int64_t places = all.end - all.first, reach = (s->windows - 1) * s->stride + places;
    const int64_t stride = s->windows > 1 ? s->stride : reach, across = (reach + stride - 1) / stride;
    const struct framed f = {places, s->pad - all.first, stride, across, across * stride};
    return f;
}

/* Floats that max_pool works in: the framed rows and, for each of their windows, the largest number and its place. */
static inline int64_t max_pool_memory(const struct pool* p) {
    const struct framed f = framed_side(&p->columns);
    return p->rows.size * (f.width + 2 * f.across) + f.places;
}

/* How many places of a window the mean counts along a side. */
static inline int64_t counted(const struct side* s, int64_t window, int count_include_pad) {
    const struct span inside = covered(s, window);
    return count_include_pad ? s->kernel : inside.end - inside.first;
}

#endif
