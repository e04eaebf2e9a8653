/* The vector routines: everything that works on contiguous runs of floats.  They live in vector/, compiled once for each
 * instruction set; simd() is the table of the widest one this processor has. */
#ifndef ASSAYER_SIMD_H
#define ASSAYER_SIMD_H

#include <stdint.h>

/* Element (i, j) lies at data[i * row + j * col]; row or col is 1. */
struct matrix {
    const float* data;
    int64_t row, col;
};

/* Products work on PANEL_DEPTH rows of B at a time. */
enum { PANEL_DEPTH = 256 };

/* What is copied of a row: `length` elements from `from` on, to `to` on. */
struct run {
    int64_t from;
    int32_t to, length;
};

/* No vector has more floats. */
enum { WIDEST_VECTOR = 16 };

/* One AdamW update's constants: grad_scale * g is the gradient, c1 and c2 undo the bias of m and v. */
struct adamw {
    float grad_scale, lr, beta1, beta2, eps, weight_decay, c1, c2;
};

/* A 16-bit format: to float32, and from it to nearest even. */
struct half {
    void (*widen)(int64_t n, const uint16_t* x, float* y);
    void (*narrow)(int64_t n, const float* x, uint16_t* y);
    /* At random, by words first, first + 1, ... of a seed (assayer.h: multi_adamw_bf16). */
    void (*draw)(int64_t n, const float* x, uint64_t seed, int64_t first, uint16_t* y);
};

struct simd {
    const char* name;
    int width; /* floats in a vector */

    /* elementwise: n floats each */
    void (*silu)(int64_t n, const float* x, float* y);
    void (*silu_backward)(int64_t n, const float* x, const float* dy, float* dx);
    void (*swiglu)(int64_t n, const float* gate, const float* up, float* y);
    void (*swiglu_backward)(int64_t n, const float* gate, const float* up, const float* dy, float* d_gate, float* d_up);
    void (*add)(int64_t n, const float* a, const float* b, float* y);
    void (*mul)(int64_t n, const float* a, const float* b, float* y);
    void (*scale)(int64_t n, const float* x, float factor, float* y);
    void (*axpy)(int64_t n, float factor, const float* x, float* y);              /* y += factor * x */
    void (*scaled_exp)(int64_t n, const float* x, float factor, float* y);        /* y = exp(x) * factor */
    void (*adamw)(int64_t n, const struct adamw* c, float* p, const float* g, float* m, float* v);
    void (*rotate)(int64_t n, const float* cosine, const float* sine, const float* x, float* y); /* n pairs */

    /* sums and rows */
    double (*dot)(int64_t n, const float* x, const float* y);                     /* of doubles */
    double (*sum_squares)(int64_t n, const float* x);
    int64_t (*nonfinite)(int64_t n, const float* x); /* how many are infinite or no number */
    float (*maximum)(int64_t n, const float* x);                                  /* NaN passed over */
    double (*exp_sum)(int64_t n, const float* x, float shift);                    /* sum of exp(x - shift) */
    double (*exp_shifted)(int64_t n, const float* x, float shift, float* y);      /* y = exp(x - shift); its sum */
    void (*shift)(int64_t n, const float* x, float a, float b, float* y);         /* y = (x - a) - b */
    void (*softmax_backward)(int64_t n, const float* y, const float* dy, float inner, float factor, float* dx);
    void (*normalise)(int64_t n, const float* x, float r, const float* weight, float* y); /* y = x * r * weight */
    void (*rmsnorm_backward)(int64_t n, const float* x, const float* weight, const float* dy, float r, float c,
                             const float* base, float* dx, float* dw);
    double (*weighted_dot)(int64_t n, const float* x, const float* weight, const float* y); /* sum of x * weight * y */

    struct half bf16, fp16;

    /* products */
    int panel; /* columns in a panel of B */
    int64_t strip; /* floats of working memory multiply() needs */
    void (*pack)(struct matrix b, int64_t depth, int64_t columns, float* packed);
    void (*multiply)(struct matrix a, const float* packed, int64_t panel_stride, int64_t rows, int64_t depth, int64_t columns,
                     float alpha, float beta, float* c, int64_t c_row, float* strip);

    /* convolution: a row of `to` for each of count places in a frame, copied by runs whose elements lie step apart there.
     * What lies behind the last run of a row may be overwritten, and read, by up to a vector. */
    void (*copy_runs)(const float* frame, const int64_t* places, int64_t count, const struct run* runs, int run_count, int64_t step,
                      float* to, int64_t row_length);
    double (*total)(int64_t n, const float* x);
};

const struct simd* simd(void);

#endif
