/* Products of matrices that lie in 16 bits, one or many, on views of any stride. */
#ifndef ASSAYER_HALVES_H
#define ASSAYER_HALVES_H

#include "../simd.h"

#include <stdbool.h>

/* C = alpha * A . B + beta * C, A rows x depth, B depth x columns; depth 0 leaves beta * C. */
struct half_product {
    struct half_matrix a, b;
    void* c; /* of the factors' format, or of float32 where sums.wide */
    int64_t c_row;
    int64_t rows, columns, depth;
};

/* What becomes of sums: alpha * sum + beta * C, rounded once, or float32 as it is. */
struct half_sums {
    struct half format;
    bool wide;
    float alpha, beta;
};

/* Computes them all, their blocks of C shared among the threads.  ASSAYER_OK or ASSAYER_NO_MEMORY. */
int32_t multiply_halves(const struct half_product* products, int64_t count, const struct half_sums* sums);

/* n numbers of C from c on (its type by sums->wide), by as many sums, which it may change. */
void store_sums(const struct simd* v, const struct half_sums* sums, int64_t n, float* summed, void* c);

/* Where an element of C lies. */
static inline void* element_of(const struct half_sums* sums, void* c, int64_t at) {
    return (char*)c + at * (int64_t)(sums->wide ? sizeof(float) : sizeof(uint16_t));
}

/* A block of C, `rows` from `row` on and `columns` from `column` on, by float32 products of numbers that are widened while they
 * are packed.  memory: widened_memory() floats. */
struct half_block {
    int64_t row, rows, column, columns;
};
enum { WIDENED_ROWS = 256, WIDENED_COLUMNS = 256 }; /* a block has no more */
int64_t widened_memory(const struct simd* v);
void multiply_widened(const struct simd* v, const struct half_product* p, const struct half_sums* sums, struct half_block block,
                      float* memory);

/* A dense row-major matrix with so many columns, and its transpose. */
static inline struct half_matrix plain_half(const uint16_t* data, int64_t columns) { return (struct half_matrix){data, columns, 1}; }
static inline struct half_matrix transposed_half(const uint16_t* data, int64_t columns) {
    return (struct half_matrix){data, 1, columns};
}

#endif
