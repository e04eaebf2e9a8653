/* Products of 16-bit numbers in float32: factors are widened as they are copied to panels and strips (vector/multiply.c), so that no
 * array of the caller's ever lies in memory in float32. */
#include "../parallel.h"
#include "halves.h"

int64_t widened_memory(const struct simd* v) {
    return v->strip + PANEL_DEPTH * round_up(WIDENED_COLUMNS, v->panel) + 2 * WIDENED_ROWS * WIDENED_COLUMNS;
}

static struct half_matrix part_of(struct half_matrix m, int64_t i, int64_t j) {
    return (struct half_matrix){m.data + i * m.row + j * m.col, m.row, m.col};
}

/* alpha times the sums of a block by one of the product's B, and `before` times what c holds; depth is not 0. */
static void sum_block(const struct simd* v, const struct half_product* p, struct half_matrix factor, struct half format,
                      struct half_block block, float alpha, float before, float* c, int64_t c_row, float* memory) {
    float* const packed = memory + v->strip;
    for (int64_t k = 0; k < p->depth; k += PANEL_DEPTH) {
        const int64_t depth = min64(PANEL_DEPTH, p->depth - k);
        format.pack(part_of(factor, k, block.column), depth, block.columns, packed);
        format.multiply(part_of(p->a, block.row, k), packed, depth * v->panel, block.rows, depth, block.columns, alpha,
                        k == 0 ? before : 1.0f, c, c_row, memory);
    }
}

void multiply_widened(const struct simd* v, const struct half_product* p, const struct half_sums* sums, struct half_block block,
                      float* memory) {
    float* const summed = memory + widened_memory(v) - 2 * WIDENED_ROWS * WIDENED_COLUMNS;
    float* const of_up = summed + WIDENED_ROWS * WIDENED_COLUMNS;
    if (sums->wide && p->depth > 0) { /* where they belong */
        float* const c = (float*)p->c + block.row * p->c_row + block.column;
        sum_block(v, p, p->b, sums->format, block, sums->alpha, sums->beta, c, p->c_row, memory);
        return;
    }
    for (int64_t i = 0; p->depth == 0 && i < block.rows * block.columns; i++) summed[i] = of_up[i] = 0;
    sum_block(v, p, p->b, sums->format, block, 1.0f, 0.0f, summed, block.columns, memory);
    if (p->gated) sum_block(v, p, p->b_up, sums->format, block, 1.0f, 0.0f, of_up, block.columns, memory);
    store_block(v, p, sums, block, summed, of_up, block.columns);
}
