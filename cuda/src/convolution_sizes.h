/* The sizes of a convolution, and the header's conditions on them: the same for the C build and for the kernels. */
#ifndef ASSAYER_CONVOLUTION_SIZES_H
#define ASSAYER_CONVOLUTION_SIZES_H

#include "check.h"

/* A call's sizes, as they come. */
struct sizes {
    int64_t batch, in_channels, height, width, out_channels, kernel_h, kernel_w;
    int64_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups;
};
#define SIZES                                                                                                              \
    {batch, in_channels, height, width, out_channels, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups}

static inline int64_t outputs_along(int64_t length, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
    return (length + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
}

static inline int64_t out_h(const struct sizes* s) { return outputs_along(s->height, s->kernel_h, s->stride_h, s->pad_h, s->dilation_h); }
static inline int64_t out_w(const struct sizes* s) { return outputs_along(s->width, s->kernel_w, s->stride_w, s->pad_w, s->dilation_w); }

/* The header's REQUIRES, without which the shapes mean nothing. */
static inline bool sizes_make_sense(const struct sizes* s) {
    return s->groups >= 1 && s->in_channels >= 1 && s->out_channels >= 1 && s->in_channels % s->groups == 0 &&
           s->out_channels % s->groups == 0 && s->kernel_h >= 1 && s->kernel_w >= 1 && s->stride_h >= 1 && s->stride_w >= 1 &&
           s->pad_h >= 0 && s->pad_w >= 0 && s->dilation_h >= 1 && s->dilation_w >= 1 &&
           s->height + 2 * s->pad_h > s->dilation_h * (s->kernel_h - 1) && s->width + 2 * s->pad_w > s->dilation_w * (s->kernel_w - 1);
}

#define CHECK_INPUT(pointer, s) CHECK_ARRAY(pointer, (s)->batch, (s)->in_channels, (s)->height, (s)->width)
#define CHECK_WEIGHT(pointer, s) CHECK_ARRAY(pointer, (s)->out_channels, (s)->in_channels / (s)->groups, (s)->kernel_h, (s)->kernel_w)
#define CHECK_OUTPUT(pointer, s) CHECK_ARRAY(pointer, (s)->batch, (s)->out_channels, out_h(s), out_w(s))

#endif
