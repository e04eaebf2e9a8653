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

/* What the sums of the windows in one row of them are divided by. */
static inline void divisors(const struct pool* p, int64_t window, float* by) {
    const struct span rows = covered(&p->rows, window);
    for (int64_t o = 0; o < p->columns.windows; o++) {
        const struct span columns = covered(&p->columns, o);
        const int64_t inside = (rows.end - rows.first) * (columns.end - columns.first);
        by[o] = (float)(p->count_include_pad ? p->rows.kernel * p->columns.kernel : inside);
    }
}

#endif
