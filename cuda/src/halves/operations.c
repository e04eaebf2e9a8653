/* The operations on arrays of 16-bit numbers, but for products (gemm.c), for each format: numbers are widened and rounded in registers,
 * as they are read and written (vector/half_rows.h), or, of attention, a block at a time. */
#include "../attention.h"
#include "../check.h"
#include "../experts.h"
#include "../loss.h"
#include "../norm.h"
#include "../parallel.h"
#include "../rope.h"
#include "../scratch.h"
#include "../simd.h"
#include "unit.h"

#include <math.h>
#include <string.h>

typedef uint16_t half_bits;

/* output[t] = sum over j of weights[t, j] * input[position[t, j]]; every weight 1 where weights is null. */
struct gathered {
    const half_bits* input;
    const float* weights;
    const int32_t* position;
    half_bits* output;
    int64_t tokens, top_k, width;
};

/* Sums of so many columns at a time stay in the first-level cache until they are rounded. */
enum { GATHERED = 1024 };

static void gather_token(const struct half_rows* v, const struct half* half, const struct gathered* g, int64_t t) {
    float sums[GATHERED];
    for (int64_t column = 0; column < g->width; column += GATHERED) {
        const int64_t n = min64(GATHERED, g->width - column);
        for (int64_t i = t * g->top_k; i < (t + 1) * g->top_k; i++) {
            const half_bits* const row = g->input + g->position[i] * g->width + column;
            const float weight = g->weights ? g->weights[i] : 1.0f;
            if (i == t * g->top_k) v->scale_wide(n, row, weight, sums);
            else v->axpy(n, weight, row, sums);
        }
        half->narrow(n, sums, g->output + t * g->width + column);
    }
}

static void gather(const struct half_rows* v, const struct half* half, const struct gathered* g) {
    PARALLEL_FOR(g->tokens * g->top_k * g->width >= SERIAL_BELOW)
    for (int64_t t = 0; t < g->tokens; t++) gather_token(v, half, g, t);
}

#define FORMAT (simd()->bf16)
#define ROWS (&simd()->bf16_rows)
#define HALF(name) name##_bf16
#include "attention.h"
#include "elementwise.h"
#include "experts.h"
#include "loss.h"
#include "norm.h"
#include "rope.h"
#undef FORMAT
#undef ROWS
#undef HALF
#define FORMAT (simd()->fp16)
#define ROWS (&simd()->fp16_rows)
#define HALF(name) name##_fp16
#include "attention.h"
#include "elementwise.h"
#include "experts.h"
#include "loss.h"
#include "norm.h"
#include "rope.h"
