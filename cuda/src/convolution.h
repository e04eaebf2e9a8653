/* What the convolutions of the C build share. */
#ifndef ASSAYER_CONVOLUTION_H
#define ASSAYER_CONVOLUTION_H

#include "convolution_sizes.h"
#include "windows.h"

/* Of a block: what its task works on stays in a core's second-level cache (see product.c). */
enum { MOST_OUTPUTS = 512, LEAST_OUTPUTS = 128, LEAST_ROWS = 128, TASKS = 2 };
static const double SERIAL_BELOW_FLOPS = 500e3;

/* How conv2d's kernel goes over the input. */
static inline struct windows windows_of(const struct sizes* s) {
    return (struct windows){{s->height, s->kernel_h, s->stride_h, s->dilation_h, s->pad_h, 1, out_h(s)},
                            {s->width, s->kernel_w, s->stride_w, s->dilation_w, s->pad_w, 1, out_w(s)},
                            s->in_channels / s->groups};
}

/* One convolution of every sample and group: c[b, g] = a[g] . windows of planes[b, g] + bias. */
struct convolution {
    struct windows windows;
    const float *a, *planes, *bias; /* bias: null for none */
    float* c;
    int64_t batch, groups, rows; /* of a and c in a group */
    int64_t block_rows, block_outputs;
};

/* Windows one place apart, of which those that stand across a row's end are few: convolve_dense computes these, too. */
static inline bool is_dense(const struct windows* w) {
    return w->down.stride == 1 && w->across.stride == 1 && 2 * frame_width(w) <= 3 * w->across.outputs && frame_width(w) <= MOST_OUTPUTS;
}

/* ASSAYER_OK or ASSAYER_NO_MEMORY.  block_rows and block_outputs are filled in. */
int32_t convolve_dense(struct convolution* o);
int32_t convolve_packed(struct convolution* o);

#endif
