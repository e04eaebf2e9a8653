/* The register tile, and the sizes that packing and multiplying share with it. */
#ifndef ASSAYER_TILE_H
#define ASSAYER_TILE_H

#include "names.h"
#include "vec.h"

#if LANES == 16
enum { TILE_ROWS = 14 }; /* 28 sums, 2 vectors of B and 1 element of A in 32 registers */
#else
enum { TILE_ROWS = 6 };  /* 12 + 2 + 1 in 16 registers */
#endif
enum { TILE_VECS = 2, TILE_COLUMNS = TILE_VECS * LANES };

/* Up to TILE_ROWS rows of A in working memory, with constant strides, so that a tile's addresses are constants. */
struct strip {
    const float* data;
    int rows, by_row; /* by_row: element (i, k) at i * PANEL_DEPTH + k; else at k * TILE_ROWS + i */
};

/* Where a tile goes: its corner in C, how many columns lie inside, and c = alpha * product + beta * c. */
struct target {
    float* c;
    int64_t row, columns;
    float alpha, beta;
};

/* depth elements of every row of a strip by a panel of B, whose rows lie b_row apart. */
void NAME(multiply_tile)(const struct strip* a, const float* panel, int64_t b_row, int64_t depth, const struct target* to);

/* The same of a strip by row, row k of the panel at b + places[k]. */
void NAME(multiply_tile_apart)(const struct strip* a, const float* b, const int64_t* places, int64_t depth, const struct target* to);

/* With the number of rows a constant, the compiler unrolls the loops over them and keeps a tile's sums in registers. */
#if LANES == 16
#define FOR_CONSTANT_ROWS(rows, CASE)                                                                                      \
    switch (rows) { CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)     \
                    CASE(13) CASE(14) default: break; }
#else
#define FOR_CONSTANT_ROWS(rows, CASE) switch (rows) { CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) default: break; }
#endif

#endif
