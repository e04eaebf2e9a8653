/* Rows by keys of one 16-bit format, for attention: what a unit multiplies as it lies in memory. */
#ifndef ASSAYER_SCORES_H
#define ASSAYER_SCORES_H

#include "halves.h"
#include "unit.h"

/* The first `columns` of depth x `keys` numbers for each of rows x depth: scores[i * row + j], row a multiple of PAIR_WIDTH; columns up
 * to a whole panel are written. */
struct half_scores {
    struct half format;
    struct half_matrix a, b;
    const uint16_t* packed; /* b, by pack_keys */
    int64_t rows, depth, columns, keys;
    float* scores;
    int64_t row;
    float* memory; /* scores_memory() floats */
};

/* How many numbers packed keys take; a multiple of PAIR_DEPTH. */
int64_t packed_keys(int64_t depth, int64_t keys);
int64_t scores_memory(const struct simd* v, int64_t depth);
void pack_keys(const struct simd* v, struct half_matrix b, int64_t depth, int64_t keys, uint16_t* packed);
void multiply_scores(const struct simd* v, const struct unit* unit, const struct half_scores* s);

#endif
