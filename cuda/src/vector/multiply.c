/* Products of any size: B by panels of TILE_COLUMNS columns, A by strips of up to TILE_ROWS rows, PANEL_DEPTH of the summed
 * index at a time.  A strip stays in the first-level cache while the panels pass by from the second. */
#include "tile.h"

#include <string.h>

/* Where A lies by columns: rows floats for every k. */
ALWAYS_INLINE void copy_columns(int rows, const float* from, int64_t a_col, int64_t depth, float* to) {
    for (int64_t k = 0; k < depth; k++) memcpy(to + k * TILE_ROWS, from + k * a_col, (size_t)rows * sizeof(float));
}

static struct strip copy_strip(struct matrix a, int64_t row, int rows, int64_t k, int64_t depth, float* memory) {
    const float* const from = a.data + row * a.row + k * a.col;
    if (a.col == 1) {
        for (int i = 0; i < rows; i++) memcpy(memory + i * PANEL_DEPTH, from + i * a.row, (size_t)depth * sizeof(float));
    } else {
#define COPY(count) case count: copy_columns(count, from, a.col, depth, memory); break;
        FOR_CONSTANT_ROWS(rows, COPY)
#undef COPY
    }
    return (struct strip){memory, rows, a.col == 1};
}

/* LANES columns of B, each contiguous, as rows of a panel. */
static void pack_transposed(const float* from, int64_t b_col, int64_t depth, float* to) {
    int64_t k = 0;
    for (; k + LANES <= depth; k += LANES) {
        vec block[LANES];
        UNROLLED for (int j = 0; j < LANES; j++) block[j] = load(from + j * b_col + k);
        transpose(block);
        UNROLLED for (int i = 0; i < LANES; i++) store(to + (k + i) * TILE_COLUMNS, block[i]);
    }
    for (; k < depth; k++)
        for (int j = 0; j < LANES; j++) to[k * TILE_COLUMNS + j] = from[j * b_col + k];
}

/* A panel that is not full, or whose columns lie apart: columns past the last are 0. */
static void pack_partial(struct matrix b, int64_t depth, int64_t columns, float* to) {
    for (int64_t k = 0; k < depth; k++, to += TILE_COLUMNS) {
        for (int64_t j = 0; j < columns; j++) to[j] = b.data[k * b.row + j * b.col];
        for (int64_t j = columns; j < TILE_COLUMNS; j++) to[j] = 0;
    }
}

/* Columns of B by panels: element (k, j) at packed[(j / panel) * depth * panel + k * panel + j % panel]. */
static void pack(struct matrix b, int64_t depth, int64_t columns, float* packed) {
    for (int64_t start = 0; start < columns; start += TILE_COLUMNS, packed += depth * TILE_COLUMNS) {
        const struct matrix panel = {b.data + start * b.col, b.row, b.col};
        if (columns - start < TILE_COLUMNS) {
            pack_partial(panel, depth, columns - start, packed);
        } else if (b.col == 1) {
            for (int64_t k = 0; k < depth; k++) memcpy(packed + k * TILE_COLUMNS, panel.data + k * b.row, TILE_COLUMNS * sizeof(float));
        } else {
            for (int half = 0; half < TILE_VECS; half++)
                pack_transposed(panel.data + half * LANES * b.col, b.col, depth, packed + half * LANES);
        }
    }
}

/* c = alpha * a . b + beta * c; panel_stride floats lie between the panels of b.  The strips are as equal as can be: the
 * last of 128 rows would otherwise have 2 of 14. */
static void multiply(struct matrix a, const float* packed, int64_t panel_stride, int64_t rows, int64_t depth, int64_t columns,
                     float alpha, float beta, float* c, int64_t c_row, float* memory) {
    const int64_t strips = (rows + TILE_ROWS - 1) / TILE_ROWS;
    for (int64_t k = 0; k < depth; k += PANEL_DEPTH) {
        const int64_t part = depth - k < PANEL_DEPTH ? depth - k : PANEL_DEPTH;
        for (int64_t s = 0, row = 0; s < strips; s++) {
            const int height = (int)((rows - row) / (strips - s));
            const struct strip strip = copy_strip(a, row, height, k, part, memory);
            for (int64_t j = 0; j < columns; j += TILE_COLUMNS) {
                const struct target to = {c + row * c_row + j, c_row, columns - j < TILE_COLUMNS ? columns - j : TILE_COLUMNS,
                                          alpha, k == 0 ? beta : 1.0f};
                NAME(multiply_tile)(&strip, packed + j / TILE_COLUMNS * panel_stride + k * TILE_COLUMNS, part, &to);
            }
            row += height;
        }
    }
}

/* c = a . b + beta * c, a by rows, row k of b at b + places[k].  Whole panels are read and written. */
static void multiply_apart(struct matrix a, const float* b, const int64_t* places, int64_t rows, int64_t depth, int64_t columns,
                           float beta, float* c, int64_t c_row, float* memory) {
    const int64_t strips = (rows + TILE_ROWS - 1) / TILE_ROWS;
    for (int64_t s = 0, row = 0; s < strips; s++) {
        const int height = (int)((rows - row) / (strips - s));
        const struct strip strip = copy_strip(a, row, height, 0, depth, memory);
        for (int64_t j = 0; j < columns; j += TILE_COLUMNS) {
            const struct target to = {c + row * c_row + j, c_row, TILE_COLUMNS, 1.0f, beta};
            NAME(multiply_tile_apart)(&strip, b + j, places, depth, &to);
        }
        row += height;
    }
}

void NAME(fill_multiply)(struct simd* table) {
    table->name = TEXT(VARIANT);
    table->width = LANES;
    table->panel = TILE_COLUMNS;
    table->strip = (int64_t)TILE_ROWS * PANEL_DEPTH;
    table->pack = pack;
    table->multiply = multiply;
    table->multiply_apart = multiply_apart;
}
