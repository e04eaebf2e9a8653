/* Attention's products of two factors of 16 bits, by a unit.  A strip of rows whose sums may be so small that the unit would take them
 * for zero is computed in float32, as in block.c. */
#include "scores.h"
#include "../parallel.h"

static int64_t deep(int64_t depth) { return round_up(depth, PAIR_DEPTH); }

/* Behind the panels stands the least magnitude of their numbers, as pack_panel says it. */
static int64_t place_of_least(int64_t depth, int64_t keys) { return round_up(keys, PAIR_WIDTH) * deep(depth); }

int64_t packed_keys(int64_t depth, int64_t keys) { return place_of_least(depth, keys) + PAIR_DEPTH; }

int64_t scores_memory(const struct simd* v, int64_t depth) {
    const int64_t strip = STRIP_AT_MOST * deep(depth) / 2, wide = STRIP_AT_MOST * depth, keys = 2 * v->panel * depth;
    return strip + wide + keys + v->strip;
}

void pack_keys(const struct simd* v, struct half_matrix b, int64_t depth, int64_t keys, uint16_t* packed) {
    uint16_t least = UINT16_MAX;
    for (int64_t j = 0; j < keys; j += PAIR_WIDTH) {
        const struct half_matrix panel = {b.data + j * b.col, b.row, b.col};
        const uint16_t of_panel = v->pack_panel(panel, depth, (int)min64(PAIR_WIDTH, keys - j), packed + j * deep(depth));
        if (of_panel < least) least = of_panel;
    }
    packed[place_of_least(depth, keys)] = least;
}

/* Rows from `first` on in float32: keys are widened and packed a panel at a time. */
static void strip_in_float(const struct simd* v, const struct half_scores* s, int64_t first, int rows, float* memory) {
    float *const wide = memory + v->strip, *const keys = wide + STRIP_AT_MOST * s->depth, *const packed = keys + v->panel * s->depth;
    for (int i = 0; i < rows; i++) s->format.widen(s->depth, s->a.data + (first + i) * s->a.row, wide + i * s->depth);
    for (int64_t j = 0; j < s->columns; j += v->panel) {
        const int64_t columns = min64(v->panel, s->columns - j);
        for (int64_t i = 0; i < columns; i++) s->format.widen(s->depth, s->b.data + (j + i) * s->b.col, keys + i * s->depth);
        v->pack((struct matrix){keys, 1, s->depth}, s->depth, columns, packed);
        v->multiply((struct matrix){wide, s->depth, 1}, packed, s->depth * v->panel, rows, s->depth, columns, 1.0f, 0.0f,
                    s->scores + first * s->row + j, s->row, memory);
    }
}

void multiply_scores(const struct simd* v, const struct unit* unit, const struct half_scores* s) {
    const int64_t strips = ceil_div(s->rows, unit->rows), depth = deep(s->depth);
    uint16_t* const strip = (uint16_t*)(void*)s->memory;
    for (int64_t n = 0; n < strips; n++) {
        const int64_t first = n * s->rows / strips;
        const int rows = (int)((n + 1) * s->rows / strips - first);
        const struct half_matrix a = {s->a.data + first * s->a.row, s->a.row, s->a.col};
        const uint16_t least = v->pack_strip(a, rows, s->depth, strip);
        if (stays_normal(unit, least, s->packed[place_of_least(s->depth, s->keys)]))
            unit->multiply(&(struct unit_call){.strip = strip, .panels = s->packed, .panel_stride = depth * PAIR_WIDTH, .rows = rows,
                                               .panel_count = (int)ceil_div(s->columns, PAIR_WIDTH), .steps = depth / PAIR_DEPTH,
                                               .sums = s->scores + first * s->row, .row = s->row, .adds = false});
        else strip_in_float(v, s, first, rows, s->memory + STRIP_AT_MOST * depth / 2);
    }
}
