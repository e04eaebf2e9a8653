/* Attention backward: every query head sums its own d_K and d_V, which are then added up over its group in order. */
#include "attention.h"
#include "check.h"
#include "parallel.h"
#include "scratch.h"

#include <string.h>

/* A row of scores becomes P = exp(score - lse), a row of d_output . V^T becomes dS = scale * P * (it - D). */
static void score_gradients(const struct simd* v, const struct attention* s, float lse, float inner, int64_t seen, int64_t keys,
                            float* scores, float* d_scores) {
    v->exp_shifted(seen, scores, lse, scores);
    v->softmax_backward(seen, scores, d_scores, inner, s->scale, d_scores);
    memset(scores + seen, 0, (size_t)(keys - seen) * sizeof(float));
    memset(d_scores + seen, 0, (size_t)(keys - seen) * sizeof(float));
}

/* Where a product of a block is summed: in its array, or in memory where that is of 16 bits. */
static void query_gradient(const struct simd* v, const struct attention* s, const struct attention_gradients* g, struct matrix d_scores,
                           const float* k_down, int64_t count, int64_t keys, int64_t at, float* memory) {
    const int64_t d = s->head_dim, width = s->n_q_heads * d;
    float* const to = s->half ? memory + v->strip : (float*)g->d_Q + at;
    v->multiply(d_scores, k_down, s->kv_len * v->panel, count, keys, d, 1.0f, 0.0f, to, s->half ? d : width, memory);
    if (s->half) store_rows(s, to, count, g->d_Q, at, width);
}

static void backward_block(const struct simd* v, const struct attention* s, const struct attention_gradients* g,
                           const struct packed* kv, int64_t b, int64_t h, int64_t first, float* memory) {
    const int64_t d = s->head_dim, n = s->q_len, width = s->n_q_heads * d, count = min64(QUERY_BLOCK, n - first);
    const int64_t keys = first + count, at = (b * n + first) * width + h * d, head = b * s->n_q_heads + h, row = score_row(keys);
    const int64_t pair = b * s->n_kv_heads + h * s->n_kv_heads / s->n_q_heads;
    const int64_t across = across_size(v, s), down = packed_size(v, n, d), block = packed_size(v, QUERY_BLOCK, d);
    float *const scores = memory + attention_memory(v, s), *const d_scores = scores + QUERY_BLOCK * score_row(n);
    float *const packed = d_scores + QUERY_BLOCK * score_row(n), *const wide = packed + block;
    score(v, s, &(struct scored){.rows = s->Q, .keys = s->K, .packed = kv->k_across + pair * across, .at = at, .row = width,
                                 .pair = pair, .count = count, .columns = keys, .alpha = s->scale, .scores = scores}, memory);
    score(v, s, &(struct scored){.rows = g->d_output, .keys = s->V, .packed = kv->v_across + pair * across, .at = at, .row = width,
                                 .pair = pair, .count = count, .columns = keys, .alpha = 1.0f, .scores = d_scores}, memory);
    const struct matrix output = rows_of(s, g->output, at, width, count, memory + v->strip);
    const struct matrix d_output = rows_of(s, g->d_output, at, width, count, wide);
    for (int64_t i = 0; i < count; i++) {
        const float inner = (float)v->dot(d, d_output.data + i * d_output.row, output.data + i * output.row);
        score_gradients(v, s, g->lse[head * n + first + i], inner, first + i + 1, keys, scores + i * row, d_scores + i * row);
    }
    /* The last block, which sees every key, comes first and writes; the others add to what it wrote. */
    const float beta = keys == n ? 0.0f : 1.0f;
    v->pack(d_output, count, d, packed);
    v->multiply(transposed(scores, row), packed, count * v->panel, keys, count, d, 1.0f, beta, g->head_d_V + head * n * d, d, memory);
    v->pack(rows_of(s, s->Q, at, width, count, wide), count, d, packed);
    v->multiply(transposed(d_scores, row), packed, count * v->panel, keys, count, d, 1.0f, beta, g->head_d_K + head * n * d, d, memory);
    query_gradient(v, s, g, plain(d_scores, row), kv->k_down + pair * down, count, keys, at, memory);
}

/* d_K and d_V at one (batch, position): the sums over the heads of each group. */
static void add_heads(const struct simd* v, const struct attention* s, const float* per_head, void* total, int64_t b, int64_t j,
                      float* memory) {
    const int64_t group = s->n_q_heads / s->n_kv_heads, d = s->head_dim;
    for (int64_t h = 0; h < s->n_q_heads; h++) {
        const int64_t at = ((b * s->q_len + j) * s->n_kv_heads + h / group) * d;
        const float* const part = per_head + ((b * s->n_q_heads + h) * s->q_len + j) * d;
        float* const to = s->half ? memory : (float*)total + at;
        if (h % group == 0) memcpy(to, part, (size_t)d * sizeof(float));
        else v->axpy(d, 1.0f, part, to);
        if (s->half && (h + 1) % group == 0) store_rows(s, to, 1, total, at, d);
    }
}

static void pack_pair(const struct simd* v, const struct attention* s, const struct packed* kv, int64_t pair, float* memory) {
    const int64_t across = across_size(v, s), down = packed_size(v, s->kv_len, s->head_dim);
    pack_across(v, s, s->K, pair, kv->k_across + pair * across, memory);
    pack_across(v, s, s->V, pair, kv->v_across + pair * across, memory);
    pack_down(v, s, s->K, pair, kv->k_down + pair * down, memory);
}

static void run(const struct simd* v, const struct attention* s, const struct attention_gradients* g, const struct packed* kv,
                float* memory, int64_t each) {
    const int64_t heads = s->batch * s->n_q_heads, rows = s->batch * s->q_len;
    PARALLEL_FOR(heads * s->kv_len * s->head_dim >= SERIAL_BELOW)
    for (int64_t pair = 0; pair < s->batch * s->n_kv_heads; pair++) pack_pair(v, s, kv, pair, memory + each * thread_index());
    PARALLEL_TASKS(heads * s->q_len * s->kv_len >= SERIAL_BELOW)
    for (int64_t head = 0; head < heads; head++)
        for (int64_t block = ceil_div(s->q_len, QUERY_BLOCK) - 1; block >= 0; block--)
            backward_block(v, s, g, kv, head / s->n_q_heads, head % s->n_q_heads, block * QUERY_BLOCK, memory + each * thread_index());
    PARALLEL_FOR(heads * s->kv_len * s->head_dim >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        float* const own = memory + each * thread_index();
        add_heads(v, s, g->head_d_K, g->d_K, row / s->q_len, row % s->q_len, own);
        add_heads(v, s, g->head_d_V, g->d_V, row / s->q_len, row % s->q_len, own);
    }
}

int32_t attention_backward(const struct attention* s, struct attention_gradients* g) {
    const struct simd* const v = simd();
    const int64_t pairs = s->batch * s->n_kv_heads, across = across_size(v, s), block = QUERY_BLOCK * s->head_dim;
    const int64_t down = packed_size(v, s->kv_len, s->head_dim), heads = s->batch * s->n_q_heads * s->q_len * s->head_dim;
    const int64_t of_block = packed_size(v, QUERY_BLOCK, s->head_dim) + (s->half ? block : 0);
    const int64_t each = attention_memory(v, s) + 2 * QUERY_BLOCK * score_row(s->kv_len) + of_block;
    const struct scratch scratch = scratch_take(pairs * (2 * across + down) + 2 * heads + each * thread_count(), sizeof(float));
    if (scratch.memory) {
        float* next = scratch.memory;
        const struct packed kv = {.k_across = next, .v_across = next + pairs * across, .k_down = next + 2 * pairs * across};
        next += pairs * (2 * across + down);
        g->head_d_K = next;
        g->head_d_V = next + heads;
        run(v, s, g, &kv, next + 2 * heads, each);
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

int32_t cuda_attention_backward(const float* Q, const float* K, const float* V, const float* output, const float* lse,
                                const float* d_output, float* d_Q, float* d_K, float* d_V, int batch, int n_q_heads, int n_kv_heads,
                                int seq_len, int head_dim, float scale, void* stream) {
    (void)stream;
    CHECK_ARRAY(Q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(K, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(V, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(output, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(lse, batch, n_q_heads, seq_len);
    CHECK_ARRAY(d_output, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(d_Q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(d_K, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(d_V, batch, seq_len, n_kv_heads, head_dim);
    CHECK(n_q_heads % n_kv_heads == 0);
    const struct attention shape = {.Q = Q, .K = K, .V = V, .batch = batch, .n_q_heads = n_q_heads, .n_kv_heads = n_kv_heads,
                                    .q_len = seq_len, .kv_len = seq_len, .kv_capacity = seq_len, .head_dim = head_dim,
                                    .scale = scale};
    return attention_backward(&shape, &(struct attention_gradients){.output = output, .lse = lse, .d_output = d_output, .d_Q = d_Q, .d_K = d_K,
                                                .d_V = d_V});
}
