/* How products in 16 bits are shared out: each has strips of A, panels of B and blocks of C, numbered through all of them.  How C is
 * divided into blocks, and among threads, changes no bit. */
#ifndef ASSAYER_HALVES_PLAN_H
#define ASSAYER_HALVES_PLAN_H

#include "../parallel.h"
#include "halves.h"
#include "unit.h"

/* A block of C is at most so large: packing its part of B is little beside so many rows of products. */
enum { BLOCK_ROWS = WIDENED_ROWS, BLOCK_PANELS = WIDENED_COLUMNS / PAIR_WIDTH, LEAST_PANELS = 4 };
static const int64_t TOO_MANY = INT64_MAX / 4; /* more numbers than any memory has */

/* A product as it is shared out: what of the numbering of all products' strips, panels and blocks is its own. */
struct work {
    const struct half_product* product;
    int64_t steps, strips, panels, first_strip, first_block;
    uint16_t* a;     /* packed */
    uint16_t* least; /* of every strip */
};

struct half_plan {
    const struct half_sums* sums;
    const struct unit* unit; /* or null */
    struct work* works;
    int64_t count, strips, blocks, block_strips, block_panels;
    int64_t most_strips, most_of_panel; /* of one product; numbers of a panel, and of up's beside it */
    int64_t b_floats;                   /* room for a block's part of B */
};

/* The first row of a strip; strips are as equal as can be. */
static inline int64_t strip_at(const struct work* w, int64_t strip) { return w->strips ? strip * w->product->rows / w->strips : 0; }

/* Takes the products in, divides them, and returns how many packed numbers of A there are.  `works` has room for all. */
int64_t make_plan(struct half_plan* plan, const struct half_product* products);

/* Where each product's packed strips and their least magnitudes lie, of all that follow each other. */
void place_packed(struct half_plan* plan, uint16_t* packed, uint16_t* least);

/* Which product a block, or a strip, is of. */
const struct work* owner(const struct half_plan* plan, int64_t task, bool is_block);

/* Packs a strip of A for the unit. */
void pack_strip(const struct simd* v, const struct half_plan* plan, int64_t task);

/* Computes a block of C.  memory: block_memory() floats. */
void do_block(const struct simd* v, const struct half_plan* plan, int64_t task, float* memory);
int64_t block_memory(const struct simd* v, const struct half_plan* plan);

#endif
