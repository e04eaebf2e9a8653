/* Products of matrices that lie in 16 bits, one or many, on views of any stride. */
#ifndef ASSAYER_HALVES_H
#define ASSAYER_HALVES_H

#include "../simd.h"

#include <stdbool.h>

/* C = alpha * A . B + beta * C, A rows x depth, B depth x columns; depth 0 leaves beta * C.  Where there is a `gated`, C is a
 * gate, `up` the product of A and B_up, and gated = silu(gate) * up, of the sums before they are rounded; of such alpha is 1,
 * beta 0, and all three are in the factors' format, laid out as C. */
struct half_product {
    struct half_matrix a, b, b_up;
    void* c; /* of the factors' format, or of float32 where sums.wide */
    uint16_t *up, *gated; /* or null */
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

/* A block of C, `rows` from `row` on and `columns` from `column` on. */
struct half_block {
    int64_t row, rows, column, columns;
};

/* Stores a block by its sums, which it may change, rows `row` apart; of_up: those of up, where the product is gated. */
void store_block(const struct simd* v, const struct half_product* p, const struct half_sums* sums, struct half_block block,
                 float* summed, float* of_up, int64_t row);

/* By float32 products of numbers that are widened while they are packed.  memory: widened_memory() floats.  A block has no more rows and
 * columns than these: its packed B stays in the second-level cache, and is packed once for as many rows as are worth it. */
enum { WIDENED_ROWS = 512, WIDENED_COLUMNS = 256 };
int64_t widened_memory(const struct simd* v);
void multiply_widened(const struct simd* v, const struct half_product* p, const struct half_sums* sums, struct half_block block,
                      float* memory);

/* A dense row-major matrix with so many columns, and its transpose. */
static inline struct half_matrix plain_half(const uint16_t* data, int64_t columns) { return (struct half_matrix){data, columns, 1}; }
static inline struct half_matrix transposed_half(const uint16_t* data, int64_t columns) {
    return (struct half_matrix){data, 1, columns};
}

#endif
