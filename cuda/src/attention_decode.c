/* Attention forward of a few queries, as where a token is decoded: keys and values are read once for all heads of their group, as they
 * lie, and shared out among threads by parts of KEYS_OF_PART.  The parts of an output are summed in their order. */
#include "attention.h"
#include "assayer.h"
#include "parallel.h"
#include "scratch.h"

enum { KEYS_OF_PART = 256 };

/* Rows are the queries of a (batch, KV head)'s heads, query by query. */
struct decoded {
    const struct attention* s;
    int64_t pairs, group, rows, parts, score_row;
    float *scores, *sums, *scales; /* [pairs, rows, score_row], [pairs, parts, rows, head_dim], [pairs, rows] */
};

/* A part of the keys of a pair, of which the queries see so many at most. */
struct key_part {
    int64_t pair, number, first, count;
};

static struct key_part part_at(const struct decoded* d, int64_t task) {
    const int64_t number = task % d->parts, first = number * KEYS_OF_PART;
    return (struct key_part){task / d->parts, number, first, min64(KEYS_OF_PART, d->s->kv_len - first)};
}

/* How many keys query i sees, and how many of a part. */
static int64_t seen_by(const struct attention* s, int64_t i) { return s->kv_len - s->q_len + i + 1; }
static int64_t seen_of(const struct attention* s, const struct key_part* part, int64_t i) {
    return max64(0, min64(part->count, seen_by(s, i) - part->first));
}

/* Where query i of a pair's first head begins in Q and in the output. */
static int64_t query_at(const struct decoded* d, int64_t pair, int64_t i) {
    const struct attention* const s = d->s;
    return ((pair / s->n_kv_heads * s->q_len + i) * s->n_q_heads + pair % s->n_kv_heads * d->group) * s->head_dim;
}

static int64_t row_at(const struct decoded* d, int64_t pair, int64_t i) { return pair * d->rows + i * d->group; }

/* A part's rows of K or V. */
static struct matrix rows_of_part(const struct attention* s, const void* array, const struct key_part* part, float* memory) {
    const int64_t row = s->n_kv_heads * s->head_dim;
    return rows_of(s, array, kv_at(s, part->pair) + part->first * row, row, part->count, memory);
}

static void score_part(const struct simd* v, const struct decoded* d, const struct key_part* part, float* memory) {
    const struct attention* const s = d->s;
    const struct matrix keys = rows_of_part(s, s->K, part, memory);
    for (int64_t i = 0; i < s->q_len; i++) {
        const struct matrix queries = rows_of(s, s->Q, query_at(d, part->pair, i), s->head_dim, d->group, memory + KEYS_OF_PART * s->head_dim);
        v->dot_rows(&(struct few_rows){queries.data, queries.row, d->group, s->head_dim}, seen_of(s, part, i), keys.data, keys.row, s->scale,
                    d->scores + row_at(d, part->pair, i) * d->score_row + part->first, d->score_row);
    }
}

static void weigh_row(const struct simd* v, const struct decoded* d, int64_t row) {
    const struct attention* const s = d->s;
    const int64_t pair = row / d->rows, i = row % d->rows / d->group, head = pair % s->n_kv_heads * d->group + row % d->group;
    const float log_sum = exponentials(v, d->scores + row * d->score_row, seen_by(s, i), seen_by(s, i), &d->scales[row]);
    if (s->lse_out) s->lse_out[(pair / s->n_kv_heads * s->n_q_heads + head) * s->q_len + i] = log_sum;
}

static void mix_part(const struct simd* v, const struct decoded* d, const struct key_part* part, float* memory) {
    const struct attention* const s = d->s;
    const struct matrix values = rows_of_part(s, s->V, part, memory);
    for (int64_t i = 0; i < s->q_len; i++) {
        const float* const weights = d->scores + row_at(d, part->pair, i) * d->score_row + part->first;
        float* const sums = d->sums + ((part->pair * d->parts + part->number) * d->rows + i * d->group) * s->head_dim;
        v->mix_rows(&(struct few_rows){weights, d->score_row, d->group, seen_of(s, part, i)}, values.data, values.row, s->head_dim, sums,
                    s->head_dim);
    }
}

/* The parts' sums into those of the first, and these to the output. */
static void store_row(const struct simd* v, const struct decoded* d, int64_t row) {
    const struct attention* const s = d->s;
    const int64_t pair = row / d->rows, place = row % d->rows, n = s->head_dim;
    const int64_t at = query_at(d, pair, place / d->group) + place % d->group * n;
    float* const sums = d->sums + (pair * d->parts * d->rows + place) * n;
    for (int64_t part = 1; part < d->parts; part++) v->axpy(n, 1.0f, sums + part * d->rows * n, sums);
    v->scale(n, sums, d->scales[row], s->half ? sums : (float*)s->output + at);
    if (s->half) store_rows(s, sums, 1, s->output, at, n);
}

static void run(const struct simd* v, const struct decoded* d, float* memory, int64_t each) {
    const int64_t tasks = d->pairs * d->parts, rows = d->pairs * d->rows;
    const bool is_parallel = rows * d->s->kv_len * d->s->head_dim >= SERIAL_BELOW;
    PARALLEL_FOR(is_parallel)
    for (int64_t task = 0; task < tasks; task++) {
        const struct key_part part = part_at(d, task);
        score_part(v, d, &part, memory + each * thread_index());
    }
    PARALLEL_FOR(rows * d->s->kv_len >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) weigh_row(v, d, row);
    PARALLEL_FOR(is_parallel)
    for (int64_t task = 0; task < tasks; task++) {
        const struct key_part part = part_at(d, task);
        mix_part(v, d, &part, memory + each * thread_index());
    }
    PARALLEL_FOR(rows * d->s->head_dim * d->parts >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) store_row(v, d, row);
}

int32_t attention_decode(const struct attention* s) {
    struct decoded d = {.s = s, .pairs = s->batch * s->n_kv_heads, .group = s->n_q_heads / s->n_kv_heads};
    d.rows = s->q_len * d.group;
    d.parts = ceil_div(s->kv_len, KEYS_OF_PART);
    d.score_row = score_row(s->kv_len);
    const int64_t of_scores = d.pairs * d.rows * d.score_row, of_sums = d.pairs * d.parts * d.rows * s->head_dim;
    const int64_t of_scales = round_up(d.pairs * d.rows, PAIR_WIDTH), each = s->half ? (KEYS_OF_PART + d.group) * s->head_dim : 0;
    const struct scratch scratch = scratch_take(of_scores + of_sums + of_scales + each * thread_count(), sizeof(float));
    if (scratch.memory) {
        d.scores = scratch.memory;
        d.sums = d.scores + of_scores;
        d.scales = d.sums + of_sums;
        run(simd(), &d, d.scales + of_scales, each);
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}
