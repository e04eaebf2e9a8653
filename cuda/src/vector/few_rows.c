/* Products of a few rows by a matrix that is read once, as it lies: to pack it for multiply() would cost more than the product. */
#include "math.h"
#include "names.h"
#include "vec.h"

/* Sums of the lanes of LANES vectors, in the order of the vectors. */
ALWAYS_INLINE vec sums_of_lanes(vec x[LANES]) {
    transpose(x);
    UNROLLED for (int half = LANES / 2; half > 0; half /= 2)
        UNROLLED for (int i = 0; i < half; i++) x[i] += x[i + half];
    return x[0];
}

/* scores[j] = factor * (row . key j), of up to LANES keys. */
ALWAYS_INLINE void dot_keys(int64_t count, int64_t depth, const float* row, const float* const key[LANES], float factor, float* scores) {
    vec sums[LANES];
    float dots[LANES];
    int64_t d = 0;
    UNROLLED for (int j = 0; j < LANES; j++) sums[j] = (vec){0};
    for (; d + LANES <= depth; d += LANES) {
        const vec x = load(row + d);
        UNROLLED for (int j = 0; j < LANES; j++) sums[j] += x * load(key[j] + d);
    }
    store(dots, sums_of_lanes(sums));
    for (; d < depth; d++)
        for (int j = 0; j < LANES; j++) dots[j] += row[d] * key[j][d];
    for (int64_t j = 0; j < count; j++) scores[j] = dots[j] * factor;
}

#if LANES > 1
/* The same of two rows and half as many keys. */
ALWAYS_INLINE void dot_half_as_many(int64_t count, int64_t depth, const float* const row[2], const float* const key[LANES], float factor,
                                    float* const scores[2]) {
    enum { HALF = LANES / 2 };
    vec sums[LANES];
    float dots[LANES];
    int64_t d = 0;
    UNROLLED for (int j = 0; j < LANES; j++) sums[j] = (vec){0};
    for (; d + LANES <= depth; d += LANES) {
        const vec x = load(row[0] + d), y = load(row[1] + d);
        UNROLLED for (int j = 0; j < HALF; j++) {
            const vec k = load(key[j] + d);
            sums[j] += x * k;
            sums[HALF + j] += y * k;
        }
    }
    store(dots, sums_of_lanes(sums));
    for (; d < depth; d++)
        for (int j = 0; j < LANES; j++) dots[j] += row[j / HALF][d] * key[j % HALF][d];
    for (int64_t j = 0; j < count; j++) scores[0][j] = dots[j] * factor, scores[1][j] = dots[HALF + j] * factor;
}
#endif

/* So many keys at a time stay in the first-level cache while every row meets them; those that are missing are the last one. */
static void dot_rows(const struct few_rows* few, int64_t keys, const float* k, int64_t k_row, float factor, float* scores, int64_t score_row) {
    for (int64_t first = 0; first < keys; first += LANES) {
        const int64_t count = keys - first < LANES ? keys - first : LANES;
        const float* key[LANES];
        for (int64_t j = 0; j < LANES; j++) key[j] = k + (first + (j < count ? j : count - 1)) * k_row;
        int64_t i = 0;
#if LANES > 1
        for (; count <= LANES / 2 && i + 2 <= few->count; i += 2) {
            const float* const row[2] = {few->rows + i * few->row, few->rows + (i + 1) * few->row};
            float* const to[2] = {scores + i * score_row + first, scores + (i + 1) * score_row + first};
            dot_half_as_many(count, few->width, row, key, factor, to);
        }
#endif
        for (; i < few->count; i++)
            dot_keys(count, few->width, few->rows + i * few->row, key, factor, scores + i * score_row + first);
    }
}

#if LANES == 16
enum { TILE_ROWS = 4, TILE_VECTORS = 4 };
#else
enum { TILE_ROWS = 4, TILE_VECTORS = 2 };
#endif

/* rows and vectors are constants wherever this is inlined. */
ALWAYS_INLINE void mix_tile(int rows, int vectors, int64_t keys, const float* weights, int64_t weight_row, const float* v, int64_t v_row,
                            float* to, int64_t to_row) {
    vec sums[TILE_ROWS][TILE_VECTORS];
    UNROLLED for (int i = 0; i < rows; i++)
        UNROLLED for (int n = 0; n < vectors; n++) sums[i][n] = (vec){0};
    for (int64_t j = 0; j < keys; j++) {
        vec value[TILE_VECTORS];
        UNROLLED for (int n = 0; n < vectors; n++) value[n] = load(v + j * v_row + n * LANES);
        UNROLLED for (int i = 0; i < rows; i++)
            UNROLLED for (int n = 0; n < vectors; n++) sums[i][n] += weights[i * weight_row + j] * value[n];
    }
    UNROLLED for (int i = 0; i < rows; i++)
        UNROLLED for (int n = 0; n < vectors; n++) store(to + i * to_row + n * LANES, sums[i][n]);
}

ALWAYS_INLINE void mix_columns(int vectors, const struct few_rows* weights, const float* v, int64_t v_row, float* to, int64_t to_row) {
    int64_t i = 0;
    for (; i + TILE_ROWS <= weights->count; i += TILE_ROWS)
        mix_tile(TILE_ROWS, vectors, weights->width, weights->rows + i * weights->row, weights->row, v, v_row, to + i * to_row, to_row);
    for (; i < weights->count; i++)
        mix_tile(1, vectors, weights->width, weights->rows + i * weights->row, weights->row, v, v_row, to + i * to_row, to_row);
}

static void mix_rows(const struct few_rows* weights, const float* v, int64_t v_row, int64_t columns, float* to, int64_t to_row) {
    enum { TILE_COLUMNS = TILE_VECTORS * LANES };
    int64_t at = 0;
    for (; at + TILE_COLUMNS <= columns; at += TILE_COLUMNS) mix_columns(TILE_VECTORS, weights, v + at, v_row, to + at, to_row);
    for (; at + LANES <= columns; at += LANES) mix_columns(1, weights, v + at, v_row, to + at, to_row);
    for (int64_t i = 0; i < weights->count; i++) {
        for (int64_t column = at; column < columns; column++) to[i * to_row + column] = 0;
        for (int64_t j = 0; j < weights->width; j++)
            for (int64_t column = at; column < columns; column++)
                to[i * to_row + column] += weights->rows[i * weights->row + j] * v[j * v_row + column];
    }
}

void NAME(fill_few_rows)(struct simd* table) {
    table->dot_rows = dot_rows;
    table->mix_rows = mix_rows;
}
