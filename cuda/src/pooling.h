/* What the C build and the kernels know of pooling. */
#ifndef ASSAYER_POOLING_H
#define ASSAYER_POOLING_H

#include "check.h"

/* One side of planes and of the windows on them, and both. */
struct side {
    int64_t size, windows, kernel, stride, pad;
};
struct pool {
    struct side rows, columns;
    int count_include_pad;
};

/* True where the header's conditions hold for one side: windows have a size, fit, and are padded by half of them at most. */
static inline bool side_fits(int size, int kernel, int stride, int pad) {
    return size >= 1 && kernel >= 1 && stride >= 1 && pad >= 0 && 2 * (int64_t)pad <= kernel && size + 2 * (int64_t)pad >= kernel;
}

static inline struct side side_of(int size, int kernel, int stride, int pad) {
    const struct side s = {size, (size + 2 * (int64_t)pad - kernel) / stride + 1, kernel, stride, pad};
    return s;
}

/* Places in a plane are int32_t. */
static inline bool places_fit(int height, int width) { return (int64_t)height * width <= INT32_MAX; }

/* CHECK_POOLING(name, counting): checks the arguments of that name, and declares `name`, the windows on the planes. */
#define CHECK_POOLING(name, counting)                                                                                      \
    CHECK(side_fits(height, kernel_h, stride_h, pad_h) && side_fits(width, kernel_w, stride_w, pad_w));                    \
    const struct pool name = {side_of(height, kernel_h, stride_h, pad_h), side_of(width, kernel_w, stride_w, pad_w), counting}

#endif
