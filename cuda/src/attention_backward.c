/* Attention backward: every query head sums its own d_K and d_V, which are then added up over its group in order. */
#include "attention.h"
#include "check.h"
#include "parallel.h"
#include "scratch.h"

#include <string.h>

struct gradients {
    const float *output, *lse, *d_output;
    float *d_Q, *d_K, *d_V;
    float *head_d_K, *head_d_V; /* [batch, n_q_heads, seq_len, head_dim] */
};

/* A row of scores becomes P = exp(score - lse), a row of d_output . V^T becomes dS = scale * P * (it - D). */
static void score_gradients(const struct simd* v, const struct attention* s, float lse, float inner, int64_t seen, int64_t keys,
                            float* scores, float* d_scores) {
    v->exp_shifted(seen, scores, lse, scores);
    v->softmax_backward(seen, scores, d_scores, inner, s->scale, d_scores);
    memset(scores + seen, 0, (size_t)(keys - seen) * sizeof(float));
    memset(d_scores + seen, 0, (size_t)(keys - seen) * sizeof(float));
}

static void backward_block(const struct simd* v, const struct attention* s, const struct gradients* g, const struct packed* kv,
                           int64_t b, int64_t h, int64_t first, float* memory) {
    const int64_t d = s->head_dim, n = s->q_len, width = s->n_q_heads * d, count = min64(QUERY_BLOCK, n - first);
    const int64_t keys = first + count, at = (b * n + first) * width + h * d, head = b * s->n_q_heads + h;
    const int64_t pair = b * s->n_kv_heads + h * s->n_kv_heads / s->n_q_heads;
    const int64_t across = packed_size(v, d, n), down = packed_size(v, n, d), block = packed_size(v, QUERY_BLOCK, d);
    float *scores = memory + v->strip, *d_scores = scores + QUERY_BLOCK * n, *packed = d_scores + QUERY_BLOCK * n;
    const struct matrix q = {s->Q + at, width, 1}, d_output = {g->d_output + at, width, 1};
    v->multiply(q, kv->k_across + pair * across, d * v->panel, count, d, keys, s->scale, 0.0f, scores, keys, memory);
    v->multiply(d_output, kv->v_across + pair * across, d * v->panel, count, d, keys, 1.0f, 0.0f, d_scores, keys, memory);
    for (int64_t i = 0; i < count; i++) {
        const float inner = (float)v->dot(d, g->d_output + at + i * width, g->output + at + i * width);
        score_gradients(v, s, g->lse[head * n + first + i], inner, first + i + 1, keys, scores + i * keys, d_scores + i * keys);
    }
    v->multiply(plain(d_scores, keys), kv->k_down + pair * down, n * v->panel, count, keys, d, 1.0f, 0.0f, g->d_Q + at, width, memory);
    /* The last block, which sees every key, comes first and writes; the others add to what it wrote. */
    const float beta = keys == n ? 0.0f : 1.0f;
    v->pack(q, count, d, packed);
    v->multiply(transposed(d_scores, keys), packed, count * v->panel, keys, count, d, 1.0f, beta, g->head_d_K + head * n * d, d, memory);
    v->pack(d_output, count, d, packed + block);
    v->multiply(transposed(scores, keys), packed + block, count * v->panel, keys, count, d, 1.0f, beta, g->head_d_V + head * n * d, d,
                memory);
}

/* d_K and d_V at one (batch, position): the sums over the heads of each group. */
static void add_heads(const struct simd* v, const struct attention* s, const float* per_head, float* total, int64_t b, int64_t j) {
    const int64_t group = s->n_q_heads / s->n_kv_heads, d = s->head_dim;
    for (int64_t h = 0; h < s->n_q_heads; h++) {
        const float* const part = per_head + ((b * s->n_q_heads + h) * s->q_len + j) * d;
        float* const to = total + ((b * s->q_len + j) * s->n_kv_heads + h / group) * d;
        if (h % group == 0) memcpy(to, part, (size_t)d * sizeof(float));
        else v->axpy(d, 1.0f, part, to);
    }
}

static void pack_pair(const struct simd* v, const struct attention* s, const struct packed* kv, int64_t pair) {
    const int64_t at = kv_at(s, pair), width = s->n_kv_heads * s->head_dim;
    const int64_t across = packed_size(v, s->head_dim, s->kv_len), down = packed_size(v, s->kv_len, s->head_dim);
    v->pack((struct matrix){s->K + at, 1, width}, s->head_dim, s->kv_len, kv->k_across + pair * across);
    v->pack((struct matrix){s->V + at, 1, width}, s->head_dim, s->kv_len, kv->v_across + pair * across);
    v->pack((struct matrix){s->K + at, width, 1}, s->kv_len, s->head_dim, kv->k_down + pair * down);
}

static void run(const struct simd* v, const struct attention* s, const struct gradients* g, const struct packed* kv, float* memory,
                int64_t each) {
    const int64_t heads = s->batch * s->n_q_heads, rows = s->batch * s->q_len;
    PARALLEL_FOR(heads * s->kv_len * s->head_dim >= SERIAL_BELOW)
    for (int64_t pair = 0; pair < s->batch * s->n_kv_heads; pair++) pack_pair(v, s, kv, pair);
    PARALLEL_TASKS(heads * s->q_len * s->kv_len >= SERIAL_BELOW)
    for (int64_t head = 0; head < heads; head++)
        for (int64_t block = ceil_div(s->q_len, QUERY_BLOCK) - 1; block >= 0; block--)
            backward_block(v, s, g, kv, head / s->n_q_heads, head % s->n_q_heads, block * QUERY_BLOCK, memory + each * thread_index());
    PARALLEL_FOR(heads * s->kv_len * s->head_dim >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        add_heads(v, s, g->head_d_K, g->d_K, row / s->q_len, row % s->q_len);
        add_heads(v, s, g->head_d_V, g->d_V, row / s->q_len, row % s->q_len);
    }
}

static int32_t backward(const struct attention* s, struct gradients* g) {
    const struct simd* const v = simd();
    const int64_t pairs = s->batch * s->n_kv_heads, across = packed_size(v, s->head_dim, s->kv_len);
    const int64_t down = packed_size(v, s->kv_len, s->head_dim), heads = s->batch * s->n_q_heads * s->q_len * s->head_dim;
    const int64_t each = v->strip + 2 * QUERY_BLOCK * s->kv_len + 2 * packed_size(v, QUERY_BLOCK, s->head_dim);
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
    return backward(&shape, &(struct gradients){.output = output, .lse = lse, .d_output = d_output, .d_Q = d_Q, .d_K = d_K,
                                                .d_V = d_V});
}
