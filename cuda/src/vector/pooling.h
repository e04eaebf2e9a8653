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

/* How many places of a window the mean counts along a side. */
static inline int64_t counted(const struct side* s, int64_t window, int count_include_pad) {
    const struct span inside = covered(s, window);
    return count_include_pad ? s->kernel : inside.end - inside.first;
}

#endif
