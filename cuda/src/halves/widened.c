/* Products of 16-bit numbers in float32: factors are widened a few rows at a time, while they are packed, so that no array of
 * the caller's ever lies in memory in float32. */
#include "../parallel.h"
#include "halves.h"

enum { STRIP_OF_A = 64 }; /* rows of A that are widened at a time */

int64_t widened_memory(const struct simd* v) {
    const int64_t of_b = PANEL_DEPTH * round_up(WIDENED_COLUMNS, v->panel), of_a = STRIP_OF_A * PANEL_DEPTH;
    return v->strip + of_b + max64(of_a, (int64_t)v->panel * PANEL_DEPTH) + 2 * WIDENED_ROWS * WIDENED_COLUMNS;
}

static struct half_matrix part_of(struct half_matrix m, int64_t i, int64_t j) {
    return (struct half_matrix){m.data + i * m.row + j * m.col, m.row, m.col};
}

/* As many rows and columns in float32, along the way on which the numbers lie together. */
static struct matrix widened(struct half format, struct half_matrix m, int64_t rows, int64_t columns, float* to) {
    if (m.col == 1) {
        for (int64_t i = 0; i < rows; i++) format.widen(columns, m.data + i * m.row, to + i * columns);
        return (struct matrix){to, columns, 1};
    }
    for (int64_t j = 0; j < columns; j++) format.widen(rows, m.data + j * m.col, to + j * rows);
    return (struct matrix){to, 1, rows};
}

/* The sums of a block by one of the product's B, a row after the other. */
static void sum_block(const struct simd* v, const struct half_product* p, struct half_matrix factor, struct half format,
                      struct half_block block, float* summed, float* memory) {
    float *const packed = memory + v->strip, *const wide = packed + PANEL_DEPTH * round_up(WIDENED_COLUMNS, v->panel);
    for (int64_t k = 0; k < p->depth; k += PANEL_DEPTH) {
        const int64_t depth = min64(PANEL_DEPTH, p->depth - k);
        for (int64_t j = 0; j < block.columns; j += v->panel) {
            const int64_t columns = min64(v->panel, block.columns - j);
            const struct matrix b = widened(format, part_of(factor, k, block.column + j), depth, columns, wide);
            v->pack(b, depth, columns, packed + j * depth);
        }
        for (int64_t i = 0; i < block.rows; i += STRIP_OF_A) {
            const int64_t rows = min64(STRIP_OF_A, block.rows - i);
            const struct matrix a = widened(format, part_of(p->a, block.row + i, k), rows, depth, wide);
            v->multiply(a, packed, depth * v->panel, rows, depth, block.columns, 1.0f, k == 0 ? 0.0f : 1.0f,
                        summed + i * block.columns, block.columns, memory);
        }
    }
    for (int64_t i = 0; p->depth == 0 && i < block.rows * block.columns; i++) summed[i] = 0;
}

void multiply_widened(const struct simd* v, const struct half_product* p, const struct half_sums* sums, struct half_block block,
                      float* memory) {
    float* const summed = memory + widened_memory(v) - 2 * WIDENED_ROWS * WIDENED_COLUMNS;
    float* const of_up = summed + WIDENED_ROWS * WIDENED_COLUMNS;
    sum_block(v, p, p->b, sums->format, block, summed, memory);
    if (p->gated) sum_block(v, p, p->b_up, sums->format, block, of_up, memory);
    store_block(v, p, sums, block, summed, of_up, block.columns);
}
