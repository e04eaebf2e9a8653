/* Matrix products, one or many, on views of any stride. */
#ifndef ASSAYER_PRODUCT_H
#define ASSAYER_PRODUCT_H

#include "simd.h"

#include <stdbool.h>

/* What becomes of every run of C when its sums are whole: n elements from c[at] on, of one row, whose first column is given. */
struct finish {
    void (*run)(const struct finish* finish, const struct simd* v, int64_t n, int64_t at, int64_t column);
};

/* C = alpha * A . B + beta * C, A rows x depth, B depth x columns; depth 0 leaves beta * C.  Where there is a second C, it is
 * that of A and the second B, which are laid out as the first: a block of both is one task, which reads A once; of such
 * the depth is not 0. */
struct product {
    struct matrix a, b, b2;
    float *c, *c2; /* c2 or null */
    int64_t c_row;
    int64_t rows, columns, depth;
    bool fresh; /* beta is 0 for this one */
    const struct finish* finish; /* or null */
    int64_t first_task; /* filled in by multiply_all */
};

/* Computes them all, their blocks of C shared among the threads.  ASSAYER_OK or ASSAYER_NO_MEMORY. */
int32_t multiply_all(struct product* products, int64_t count, float alpha, float beta);

/* The same of factors that are not there yet: make(context) writes them, once nothing can fail any more. */
int32_t make_and_multiply(void (*make)(const void* context), const void* context, struct product* products, int64_t count, float alpha,
                          float beta);

/* A dense row-major matrix with so many columns, and its transpose. */
static inline struct matrix plain(const float* data, int64_t columns) { return (struct matrix){data, columns, 1}; }
static inline struct matrix transposed(const float* data, int64_t columns) { return (struct matrix){data, 1, columns}; }

#endif
