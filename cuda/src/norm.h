/* The gradients of rmsnorm, in float32 and in 16 bits. */
#ifndef ASSAYER_NORM_H
#define ASSAYER_NORM_H

#include "simd.h"

#include <math.h>

/* What a row of n numbers is multiplied by. */
static inline double inverse_root(double squares, int64_t n, float eps) {
    return 1.0 / sqrt(squares / (double)n + eps);
}

/* Rows in a 16-bit format. */
struct half_gradient {
    const struct half_rows* v;
    const uint16_t *x, *d_output, *base;
    uint16_t* d_input;
};

struct rmsnorm_gradient {
    const float *x, *weight, *d_output, *base; /* base: what d_input starts from, or null */
    float *d_input, *d_weight;
    int64_t rows, n;
    float eps, beta;
    const struct half_gradient* half; /* or null; else what is read and written in place of x, d_output, base and d_input */
};

/* ASSAYER_OK or ASSAYER_NO_MEMORY. */
int32_t rmsnorm_gradient(const struct rmsnorm_gradient* b);

#endif
