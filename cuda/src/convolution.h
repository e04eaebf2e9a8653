/* What the convolutions of the C build share. */
#ifndef ASSAYER_CONVOLUTION_H
#define ASSAYER_CONVOLUTION_H

#include "convolution_sizes.h"
#include "windows.h"

/* How conv2d's kernel goes over the input. */
static inline struct windows windows_of(const struct sizes* s) {
    return (struct windows){{s->height, s->kernel_h, s->stride_h, s->dilation_h, s->pad_h, 1, out_h(s)},
                            {s->width, s->kernel_w, s->stride_w, s->dilation_w, s->pad_w, 1, out_w(s)},
                            s->in_channels / s->groups};
}

#endif
