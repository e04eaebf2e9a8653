/* Products of any size: B by panels of TILE_COLUMNS columns, A by strips of up to TILE_ROWS rows, PANEL_DEPTH of the summed
 * index at a time.  A strip stays in the first-level cache while the panels pass by from the second.  Factors are floats, or of
 * 16 bits: then they are widened as they are copied to panels and strips, and all else is the same. */
#include "numbers.h"
#include "tile.h"

/* Where A lies by columns, every line that is read holds numbers of several strips: so many are copied at once, as long as the lines
 * of so many k stay in the first-level cache, where all may have to share one set. */
enum { GROUP = 4, LINES_OF_SET = 8, GROUP_ROWS = GROUP * TILE_ROWS };

/* rows floats for every k. */
ALWAYS_INLINE void copy_columns(int rows, const float* from, int64_t a_col, int64_t depth, float* to) {
    for (int64_t k = 0; k < depth; k++) memcpy(to + k * TILE_ROWS, from + k * a_col, (size_t)rows * sizeof(float));
}

static void copy_heights(const struct strip* strips, int count, const float* from, int64_t a_col, int64_t k, int64_t depth, float* memory) {
    for (int n = 0; n < count; from += strips[n++].rows) {
        float* const to = memory + n * TILE_ROWS * PANEL_DEPTH + k * TILE_ROWS;
#define COPY(count) case count: copy_columns(count, from, a_col, depth, to); break;
        FOR_CONSTANT_ROWS(strips[n].rows, COPY)
#undef COPY
    }
}

/* `count` strips, which lie one below the other in A from its first row on. */
ALWAYS_INLINE void copy_strips(enum format format, struct numbers a, const struct strip* strips, int count, int64_t depth, float* memory) {
    if (a.col == 1) {
        for (int i = 0; i < strips->rows; i++) copy_numbers(format, depth, a.data, i * a.row, memory + i * PANEL_DEPTH);
        return;
    }
    int64_t rows = 0;
    for (int n = 0; n < count; n++) rows += strips[n].rows;
    for (int64_t k = 0; k < depth; k += LINES_OF_SET) {
        const int64_t part = depth - k < LINES_OF_SET ? depth - k : LINES_OF_SET;
        float wide[LINES_OF_SET * GROUP_ROWS];
        for (int64_t i = 0; format != FLOATS && i < part; i++) copy_numbers(format, rows, a.data, (k + i) * a.col, wide + i * GROUP_ROWS);
        if (format == FLOATS) copy_heights(strips, count, (const float*)a.data + k * a.col, a.col, k, part, memory);
        else copy_heights(strips, count, wide, GROUP_ROWS, k, part, memory);
    }
}

/* LANES columns of B, each contiguous, as rows of a panel.  Those behind them are asked for. */
ALWAYS_INLINE void pack_transposed(enum format format, struct numbers b, int64_t depth, float* to) {
    int64_t k = 0;
    for (; k + LANES <= depth; k += LANES) {
        vec block[LANES];
        UNROLLED for (int j = 0; j < LANES; j++) block[j] = load_numbers(format, b.data, j * b.col + k);
        for (int j = 0; j < LANES; j++) PREFETCH((uintptr_t)b.data + (uintptr_t)(((LANES + j) * b.col + k) * size_of_number(format)));
        transpose(block);
        UNROLLED for (int i = 0; i < LANES; i++) store(to + (k + i) * TILE_COLUMNS, block[i]);
    }
    for (; k < depth; k++)
        for (int j = 0; j < LANES; j++) to[k * TILE_COLUMNS + j] = number_at(format, b.data, j * b.col + k);
}

/* A panel that is not full, or whose columns lie apart: columns past the last are 0. */
ALWAYS_INLINE void pack_partial(enum format format, struct numbers b, int64_t depth, int64_t columns, float* to) {
    for (int64_t k = 0; k < depth; k++, to += TILE_COLUMNS) {
        for (int64_t j = 0; j < columns; j++) to[j] = number_at(format, b.data, k * b.row + j * b.col);
        for (int64_t j = columns; j < TILE_COLUMNS; j++) to[j] = 0;
    }
}

/* Columns of B by panels: element (k, j) at packed[(j / panel) * depth * panel + k * panel + j % panel]. */
ALWAYS_INLINE void pack_any(enum format format, struct numbers b, int64_t depth, int64_t columns, float* packed) {
    for (int64_t start = 0; start < columns; start += TILE_COLUMNS, packed += depth * TILE_COLUMNS) {
        const struct numbers panel = numbers_from(format, b, 0, start);
        if (columns - start < TILE_COLUMNS) {
            pack_partial(format, panel, depth, columns - start, packed);
        } else if (b.col == 1) {
            for (int64_t k = 0; k < depth; k++)
                UNROLLED for (int j = 0; j < TILE_COLUMNS; j += LANES)
                    store(packed + k * TILE_COLUMNS + j, load_numbers(format, panel.data, k * b.row + j));
        } else {
            for (int half = 0; half < TILE_VECS; half++)
                pack_transposed(format, numbers_from(format, panel, 0, half * LANES), depth, packed + half * LANES);
        }
    }
}

/* c = alpha * a . b + beta * c; panel_stride floats lie between the panels of b.  The strips are as equal as can be: the
 * last of 128 rows would otherwise have 2 of 14. */
ALWAYS_INLINE void multiply_any(enum format format, struct numbers a, const float* packed, int64_t panel_stride, int64_t rows,
                                int64_t depth, int64_t columns, float alpha, float beta, float* c, int64_t c_row, float* memory) {
    const int64_t strips = (rows + TILE_ROWS - 1) / TILE_ROWS, group = a.col == 1 ? 1 : GROUP;
    for (int64_t k = 0; k < depth; k += PANEL_DEPTH) {
        const int64_t part = depth - k < PANEL_DEPTH ? depth - k : PANEL_DEPTH;
        for (int64_t s = 0, row = 0; s < strips; s += group) {
            struct strip of_group[GROUP] = {{0}};
            const int count = (int)(strips - s < group ? strips - s : group);
            int64_t end = row;
            for (int n = 0; n < count; n++) {
                of_group[n] = (struct strip){memory + n * TILE_ROWS * PANEL_DEPTH, (int)((rows - end) / (strips - s - n)), a.col == 1};
                end += of_group[n].rows;
            }
            copy_strips(format, numbers_from(format, a, row, k), of_group, count, part, memory);
            for (int n = 0; n < count; row += of_group[n++].rows)
                for (int64_t j = 0; j < columns; j += TILE_COLUMNS) {
                    const struct target to = {c + row * c_row + j, c_row, columns - j < TILE_COLUMNS ? columns - j : TILE_COLUMNS,
                                              alpha, k == 0 ? beta : 1.0f};
                    NAME(multiply_tile)(&of_group[n], packed + j / TILE_COLUMNS * panel_stride + k * TILE_COLUMNS, TILE_COLUMNS, part, &to);
                }
        }
    }
}

#define PACK(name, format, matrix_of)                                                                                      \
    static void name(struct matrix_of b, int64_t depth, int64_t columns, float* packed) {                                  \
        pack_any(format, (struct numbers){b.data, b.row, b.col}, depth, columns, packed);                                  \
    }
PACK(pack, FLOATS, matrix)
PACK(pack_bf16, BF16, half_matrix)
PACK(pack_fp16, FP16, half_matrix)

#define MULTIPLY(name, format, matrix_of)                                                                                  \
    static void name(struct matrix_of a, const float* packed, int64_t panel_stride, int64_t rows, int64_t depth,           \
                     int64_t columns, float alpha, float beta, float* c, int64_t c_row, float* memory) {                   \
        multiply_any(format, (struct numbers){a.data, a.row, a.col}, packed, panel_stride, rows, depth, columns, alpha,    \
                     beta, c, c_row, memory);                                                                              \
    }
MULTIPLY(multiply, FLOATS, matrix)
MULTIPLY(multiply_bf16, BF16, half_matrix)
MULTIPLY(multiply_fp16, FP16, half_matrix)

/* c = a . b + beta * c, a by rows, row k of b at b + places[k].  Whole panels are read and written. */
static void multiply_apart(struct matrix a, const float* b, const int64_t* places, int64_t rows, int64_t depth, int64_t columns,
                           float beta, float* c, int64_t c_row, float* memory) {
    const int64_t strips = (rows + TILE_ROWS - 1) / TILE_ROWS;
    for (int64_t s = 0, row = 0; s < strips; s++) {
        const struct strip strip = {memory, (int)((rows - row) / (strips - s)), 1};
        copy_strips(FLOATS, (struct numbers){a.data + row * a.row, a.row, 1}, &strip, 1, depth, memory);
        for (int64_t j = 0; j < columns; j += TILE_COLUMNS) {
            const struct target to = {c + row * c_row + j, c_row, TILE_COLUMNS, 1.0f, beta};
            NAME(multiply_tile_apart)(&strip, b + j, places, depth, &to);
        }
        row += strip.rows;
    }
}

_Static_assert(TILE_COLUMNS <= (GROUP - 1) * TILE_ROWS, "a panel has room behind one strip of a group");

/* Whole panels of b as they lie, the last one packed behind the strip: of GROUP that there is memory for one is in use. */
static void multiply_unpacked(struct matrix a, struct matrix b, int64_t rows, int64_t depth, int64_t columns, float alpha, float beta,
                              float* c, int64_t c_row, float* memory) {
    const struct strip strip = {memory, (int)rows, a.col == 1};
    copy_strips(FLOATS, (struct numbers){a.data, a.row, a.col}, &strip, 1, depth, memory);
    for (int64_t j = 0; j < columns; j += TILE_COLUMNS) {
        const int64_t rest = columns - j;
        const struct target to = {c + j, c_row, rest < TILE_COLUMNS ? rest : TILE_COLUMNS, alpha, beta};
        if (rest >= TILE_COLUMNS) {
            NAME(multiply_tile)(&strip, b.data + j, b.row, depth, &to);
        } else {
            float* const packed = memory + TILE_ROWS * PANEL_DEPTH;
            pack_partial(FLOATS, (struct numbers){b.data + j, b.row, 1}, depth, rest, packed);
            NAME(multiply_tile)(&strip, packed, TILE_COLUMNS, depth, &to);
        }
    }
}

void NAME(fill_multiply)(struct simd* table) {
    table->name = TEXT(VARIANT);
    table->width = LANES;
    table->panel = TILE_COLUMNS;
    table->strip = (int64_t)GROUP * TILE_ROWS * PANEL_DEPTH;
    table->pack = pack;
    table->multiply = multiply;
    table->multiply_apart = multiply_apart;
    table->unpacked_rows = TILE_ROWS;
    table->multiply_unpacked = multiply_unpacked;
    table->bf16.pack = pack_bf16;
    table->bf16.multiply = multiply_bf16;
    table->fp16.pack = pack_fp16;
    table->fp16.multiply = multiply_fp16;
}
