/* The register tile of a product: up to TILE_ROWS rows of C by one panel's columns, all of whose sums stay in registers.  For
 * every k, TILE_ROWS elements of A meet TILE_VECS vectors of B. */
#include "tile.h"

#include <stddef.h>

/* A tile that reaches past the last column: its sums, by way of memory. */
static void write_part(int rows, const float* sums, const struct target* to) {
    for (int i = 0; i < rows; i++)
        for (int64_t j = 0; j < to->columns; j++) {
            float* const c = to->c + i * to->row + j;
            const float product = to->alpha * sums[i * TILE_COLUMNS + j];
            *c = to->beta == 0 ? product : product + to->beta * *c;
        }
}

/* Element (i, k) of A is a[i * a_row + k * a_col], row k of B at panel + k * b_row, or at panel + places[k] where there are
 * places.  rows, how many vectors a row of the tile has, and whether there are places, are constants wherever this is inlined. */
ALWAYS_INLINE void tile(int rows, int vecs, const float* a, int64_t a_row, int64_t a_col, const float* panel, int64_t b_row,
                        const int64_t* places, int64_t depth, const struct target* to) {
    vec sum[TILE_ROWS][TILE_VECS];
    UNROLLED for (int i = 0; i < rows; i++)
        UNROLLED for (int j = 0; j < vecs; j++) sum[i][j] = (vec){0};
    for (int64_t k = 0; k < depth; k++) {
        const float* const b = panel + (places ? places[k] : k * b_row);
        vec column[TILE_VECS];
        UNROLLED for (int j = 0; j < vecs; j++) column[j] = load(b + j * LANES);
        UNROLLED for (int i = 0; i < rows; i++) {
            const float factor = a[i * a_row + k * a_col];
            UNROLLED for (int j = 0; j < vecs; j++) sum[i][j] += factor * column[j];
        }
    }
    if (to->columns < vecs * LANES) {
        float sums[TILE_ROWS * TILE_COLUMNS];
        UNROLLED for (int i = 0; i < rows; i++)
            UNROLLED for (int j = 0; j < vecs; j++) store(sums + i * TILE_COLUMNS + j * LANES, sum[i][j]);
        write_part(rows, sums, to);
        return;
    }
    const float alpha = to->alpha, beta = to->beta; /* which a store to c could change, for all the compiler knows */
    float* c = to->c;
    UNROLLED for (int i = 0; i < rows; i++, c += to->row)
        UNROLLED for (int j = 0; j < vecs; j++) {
            const vec product = alpha * sum[i][j];
            store(c + j * LANES, beta == 0 ? product : product + beta * load(c + j * LANES));
        }
}

void NAME(multiply_tile)(const struct strip* a, const float* panel, int64_t b_row, int64_t depth, const struct target* to) {
    const int is_narrow = to->columns <= LANES; /* the panel's second vector is of no column */
    if (a->by_row && is_narrow) {
#define TILE(count) case count: tile(count, 1, a->data, PANEL_DEPTH, 1, panel, b_row, NULL, depth, to); break;
        FOR_CONSTANT_ROWS(a->rows, TILE)
#undef TILE
    } else if (a->by_row) {
#define TILE(count) case count: tile(count, TILE_VECS, a->data, PANEL_DEPTH, 1, panel, b_row, NULL, depth, to); break;
        FOR_CONSTANT_ROWS(a->rows, TILE)
#undef TILE
    } else if (is_narrow) {
#define TILE(count) case count: tile(count, 1, a->data, 1, TILE_ROWS, panel, b_row, NULL, depth, to); break;
        FOR_CONSTANT_ROWS(a->rows, TILE)
#undef TILE
    } else {
#define TILE(count) case count: tile(count, TILE_VECS, a->data, 1, TILE_ROWS, panel, b_row, NULL, depth, to); break;
        FOR_CONSTANT_ROWS(a->rows, TILE)
#undef TILE
    }
}

void NAME(multiply_tile_apart)(const struct strip* a, const float* b, const int64_t* places, int64_t depth, const struct target* to) {
#define TILE(count) case count: tile(count, TILE_VECS, a->data, PANEL_DEPTH, 1, b, 0, places, depth, to); break;
    FOR_CONSTANT_ROWS(a->rows, TILE)
#undef TILE
}
