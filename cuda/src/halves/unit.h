/* What multiplies numbers of 16 bits on this processor: bfloat16 by AMX or AVX-512 BF16, float16 by AMX, or nothing of its own.
 *
 * All read pairs of numbers that are neighbours along the summed index.  Those of bfloat16 take subnormal numbers for zero and store
 * none.  The header does not allow that of products, so they are given only what cannot tell: packing notes the least magnitudes
 * (vector/pairs.c), block.c judges by them.  That of float16 keeps the subnormal numbers it reads, and no sum of their products can be
 * a subnormal float.  A strip of A holds up to `rows` rows, its element (i, k) at
 * (k / PAIR_DEPTH * rows of the strip + i) * PAIR_DEPTH + k % PAIR_DEPTH.  A panel of B holds PAIR_WIDTH columns, element (k, j)
 * at k / 2 * 2 * PAIR_WIDTH + 2 * j + k % 2.  Past the last k, and the last column, there are zeros. */
#ifndef ASSAYER_UNIT_H
#define ASSAYER_UNIT_H

#include "../simd.h"

#include <stdbool.h>

/* A strip by a row of panels: sums[i * row + j], added to what is there where `adds`.  Columns up to a whole panel are written. */
struct unit_call {
    const uint16_t *strip, *panels;
    int64_t panel_stride; /* elements from panel to panel */
    int rows, panel_count;
    int64_t steps; /* of PAIR_DEPTH */
    float* sums;
    int64_t row;
    bool adds;
};

struct unit {
    const char* name;
    int number;   /* the capability "bf16_unit", or "fp16_unit" */
    int rows;     /* of a strip, at most */
    bool flushes; /* whether it may take for zero what is not */
    void (*multiply)(const struct unit_call* call);
};

enum { STRIP_AT_MOST = 32 }; /* rows, of any unit */

/* Whether no sum of products can be so small that the unit takes it for zero, by the least magnitudes of both factors as they are
 * packed. */
bool stays_normal(const struct unit* unit, uint16_t least_a, uint16_t least_b);

enum { UNIT_NONE, UNIT_AVX512_BF16, UNIT_AMX, UNIT_AMX_EMULATED };

/* The unit in use, or null: the fastest that build and processor have, or what the environment variable ASSAYER_BF16, or
 * ASSAYER_FP16, asks for: amx, avx512_bf16 (of bfloat16), amx_emulated (AMX's tiles in C, on any processor) or widened. */
const struct unit* bf16_unit(void);
const struct unit* fp16_unit(void);

/* That of a format: simd()'s bf16 or fp16. */
const struct unit* unit_of(const struct half* format);

/* Whether the processor multiplies faster by AVX-512 BF16 than in float32. */
bool avx512_bf16_pays(void);

/* Each null where the build or the processor has none. */
const struct unit* amx_unit(void);
const struct unit* avx512_bf16_unit(void);
const struct unit* amx_emulated_unit(void);
const struct unit* amx_fp16_unit(void);
const struct unit* amx_fp16_emulated_unit(void);

#endif
