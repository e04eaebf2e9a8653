/* Sums of a block of C, stored: rounded to 16 bits, scaled and added to what was there, or gated. */
#include "halves.h"

#include <string.h>

/* Where an element of C lies. */
static void* element_of(const struct half_sums* sums, void* c, int64_t at) {
    return (char*)c + at * (int64_t)(sums->wide ? sizeof(float) : sizeof(uint16_t));
}

/* n numbers of C from c on (its type by sums->wide), by as many sums. */
static void store_sums(const struct simd* v, const struct half_sums* sums, int64_t n, float* summed, void* c) {
    float before[WIDENED_COLUMNS];
    if (sums->alpha != 1) v->scale(n, summed, sums->alpha, summed);
    if (sums->beta != 0 && !sums->wide) sums->format.widen(n, c, before);
    if (sums->beta != 0) v->axpy(n, sums->beta, sums->wide ? c : before, summed);
    if (sums->wide) memcpy(c, summed, (size_t)n * sizeof(float));
    else sums->format.narrow(n, summed, c);
}

/* Of one row: gate, up and what they make. */
static void store_gated(const struct simd* v, const struct half_product* p, struct half format, int64_t n, const float* gate,
                        const float* up, int64_t at) {
    float gated[WIDENED_COLUMNS];
    v->swiglu(n, gate, up, gated);
    format.narrow(n, gate, (uint16_t*)p->c + at);
    format.narrow(n, up, p->up + at);
    format.narrow(n, gated, p->gated + at);
}

void store_block(const struct simd* v, const struct half_product* p, const struct half_sums* sums, struct half_block block,
                 float* summed, float* of_up, int64_t row) {
    for (int64_t i = 0; i < block.rows; i++) {
        const int64_t at = (block.row + i) * p->c_row + block.column;
        if (p->gated) store_gated(v, p, sums->format, block.columns, summed + i * row, of_up + i * row, at);
        else store_sums(v, sums, block.columns, summed + i * row, element_of(sums, p->c, at));
    }
}
