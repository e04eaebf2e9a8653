/* Attention's rows in every format: those of 16 bits are widened a block at a time, or multiplied as they are by a unit. */
#include "attention.h"
#include "parallel.h"

int64_t packed_size(const struct simd* v, int64_t depth, int64_t columns) { return depth * round_up(columns, v->panel); }

int64_t across_size(const struct simd* v, const struct attention* s) {
    return s->unit ? packed_keys(s->head_dim, s->kv_len) / 2 : packed_size(v, s->head_dim, s->kv_len);
}

/* What multiply() needs; then rows, of a block or as they are packed; then the unit's. */
static int64_t rows_memory(const struct attention* s) { return s->half ? max64(QUERY_BLOCK, s->kv_len) * s->head_dim : 0; }

int64_t attention_memory(const struct simd* v, const struct attention* s) {
    return v->strip + round_up(rows_memory(s), PAIR_DEPTH) + (s->unit ? scores_memory(v, s->head_dim) : 0);
}

struct matrix rows_of(const struct attention* s, const void* array, int64_t at, int64_t row, int64_t count, float* memory) {
    if (!s->half) return (struct matrix){(const float*)array + at, row, 1};
    for (int64_t i = 0; i < count; i++)
        s->half->widen(s->head_dim, (const uint16_t*)array + at + i * row, memory + i * s->head_dim);
    return plain(memory, s->head_dim);
}

void store_rows(const struct attention* s, const float* rows, int64_t count, void* array, int64_t at, int64_t row) {
    for (int64_t i = 0; i < count; i++) s->half->narrow(s->head_dim, rows + i * s->head_dim, (uint16_t*)array + at + i * row);
}

static struct half_matrix half_keys(const struct attention* s, const void* keys, int64_t pair) {
    return (struct half_matrix){(const uint16_t*)keys + kv_at(s, pair), 1, s->n_kv_heads * s->head_dim};
}

void pack_across(const struct simd* v, const struct attention* s, const void* keys, int64_t pair, float* packed, float* memory) {
    if (s->unit) {
        pack_keys(v, half_keys(s, keys, pair), s->head_dim, s->kv_len, (uint16_t*)(void*)packed);
        return;
    }
    const struct matrix rows = rows_of(s, keys, kv_at(s, pair), s->n_kv_heads * s->head_dim, s->kv_len, memory + v->strip);
    v->pack((struct matrix){rows.data, 1, rows.row}, s->head_dim, s->kv_len, packed);
}

void pack_down(const struct simd* v, const struct attention* s, const void* keys, int64_t pair, float* packed, float* memory) {
    const struct matrix rows = rows_of(s, keys, kv_at(s, pair), s->n_kv_heads * s->head_dim, s->kv_len, memory + v->strip);
    v->pack(rows, s->kv_len, s->head_dim, packed);
}

void score(const struct simd* v, const struct attention* s, const struct scored* of, float* memory) {
    const int64_t row = score_row(of->columns);
    if (!s->unit) {
        const struct matrix rows = rows_of(s, of->rows, of->at, of->row, of->count, memory + v->strip);
        v->multiply(rows, of->packed, s->head_dim * v->panel, of->count, s->head_dim, of->columns, of->alpha, 0.0f, of->scores, row, memory);
        return;
    }
    multiply_scores(v, s->unit, &(struct half_scores){
        .format = *s->half, .a = {(const uint16_t*)of->rows + of->at, of->row, 1}, .b = half_keys(s, of->keys, of->pair),
        .packed = (const uint16_t*)(const void*)of->packed, .rows = of->count, .depth = s->head_dim, .columns = of->columns,
        .keys = s->kv_len, .scores = of->scores, .row = row, .memory = memory + v->strip + round_up(rows_memory(s), PAIR_DEPTH)});
    for (int64_t i = 0; of->alpha != 1 && i < of->count; i++)
        v->scale(of->columns, of->scores + i * row, of->alpha, of->scores + i * row);
}
