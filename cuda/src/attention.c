/* Attention forward: blocks of queries against the packed keys and values of their KV head. */
#include "attention.h"
#include "check.h"
#include "parallel.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

float exponentials(const struct simd* v, float* row, int64_t seen, int64_t columns, float* scale) {
    const float row_max = v->maximum(seen, row);
    const double total = v->exp_shifted(seen, row, row_max, row);
    *scale = (float)(1 / total);
    memset(row + seen, 0, (size_t)(columns - seen) * sizeof(float));
    return (float)(row_max + log(total));
}

static void forward_block(const struct simd* v, const struct attention* s, const struct packed* kv, int64_t b, int64_t h,
                          int64_t first, float* memory) {
    const int64_t count = min64(QUERY_BLOCK, s->q_len - first), before = s->kv_len - s->q_len + first;
    const int64_t keys = before + count, width = s->n_q_heads * s->head_dim, row = score_row(keys);
    const int64_t pair = b * s->n_kv_heads + h * s->n_kv_heads / s->n_q_heads;
    const int64_t at = (b * s->q_len + first) * width + h * s->head_dim;
    float* const scores = memory + attention_memory(v, s);
    float scales[QUERY_BLOCK];
    score(v, s, &(struct scored){.rows = s->Q, .keys = s->K, .packed = kv->k_across + pair * across_size(v, s), .at = at, .row = width,
                                 .pair = pair, .count = count, .columns = keys, .alpha = s->scale, .scores = scores}, memory);
    for (int64_t i = 0; i < count; i++) {
        const float log_sum = exponentials(v, scores + i * row, before + i + 1, keys, &scales[i]);
        if (s->lse_out) s->lse_out[(b * s->n_q_heads + h) * s->q_len + first + i] = log_sum;
    }
    const float* const v_packed = kv->v_down + pair * packed_size(v, s->kv_len, s->head_dim);
    float* const output = s->half ? memory + v->strip : (float*)s->output + at;
    const int64_t output_row = s->half ? s->head_dim : width;
    v->multiply(plain(scores, row), v_packed, s->kv_len * v->panel, count, keys, s->head_dim, 1.0f, 0.0f, output, output_row, memory);
    for (int64_t i = 0; i < count; i++) v->scale(s->head_dim, output + i * output_row, scales[i], output + i * output_row);
    if (s->half) store_rows(s, output, count, s->output, at, width);
}

int32_t attention_forward(const struct attention* s) {
    if (s->q_len <= FEW_QUERIES) return attention_decode(s);
    const struct simd* const v = simd();
    const int64_t pairs = s->batch * s->n_kv_heads, blocks = ceil_div(s->q_len, QUERY_BLOCK), heads = s->batch * s->n_q_heads;
    const int64_t across = across_size(v, s), down = packed_size(v, s->kv_len, s->head_dim);
    const int64_t each = attention_memory(v, s) + QUERY_BLOCK * score_row(s->kv_len);
    const struct scratch scratch = scratch_take(pairs * (across + down) + each * thread_count(), sizeof(float));
    if (scratch.memory) {
        float* const memory = (float*)scratch.memory + pairs * (across + down);
        const struct packed kv = {.k_across = scratch.memory, .v_down = (float*)scratch.memory + pairs * across};
        PARALLEL_FOR(heads * s->kv_len * s->head_dim >= SERIAL_BELOW)
        for (int64_t pair = 0; pair < pairs; pair++) {
            pack_across(v, s, s->K, pair, kv.k_across + pair * across, memory + each * thread_index());
            pack_down(v, s, s->V, pair, kv.v_down + pair * down, memory + each * thread_index());
        }
        PARALLEL_TASKS(heads * s->q_len * s->kv_len >= SERIAL_BELOW)
        for (int64_t task = 0; task < heads * blocks; task++) {
            const int64_t head = task % heads, block = blocks - 1 - task / heads; /* the longest first */
            forward_block(v, s, &kv, head / s->n_q_heads, head % s->n_q_heads, block * QUERY_BLOCK, memory + each * thread_index());
        }
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

int32_t cuda_flash_attention(const float* Q, const float* K, const float* V, float* output, int batch, int n_q_heads, int n_kv_heads,
                             int seq_len, int head_dim, float scale, void* stream) {
    (void)stream;
    CHECK_ARRAY(Q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(K, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(V, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(output, batch, seq_len, n_q_heads, head_dim);
    CHECK(n_q_heads % n_kv_heads == 0);
    return attention_forward(&(struct attention){.Q = Q, .K = K, .V = V, .output = output, .batch = batch, .n_q_heads = n_q_heads,
                                       .n_kv_heads = n_kv_heads, .q_len = seq_len, .kv_len = seq_len, .kv_capacity = seq_len,
                                       .head_dim = head_dim, .scale = scale});
}

int32_t cuda_attention_forward(const float* Q, const float* K, const float* V, float* output, float* lse, int batch, int n_q_heads,
                               int n_kv_heads, int q_len, int kv_len, int kv_capacity, int head_dim, float scale, void* stream) {
    (void)stream;
    CHECK_ARRAY(Q, batch, q_len, n_q_heads, head_dim);
    CHECK_ARRAY(K, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK_ARRAY(V, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK_ARRAY(output, batch, q_len, n_q_heads, head_dim);
    CHECK_ARRAY(lse, batch, n_q_heads, q_len);
    CHECK(n_q_heads % n_kv_heads == 0 && kv_len >= q_len && kv_len <= kv_capacity);
    return attention_forward(&(struct attention){.Q = Q, .K = K, .V = V, .output = output, .lse_out = lse, .batch = batch,
                                       .n_q_heads = n_q_heads, .n_kv_heads = n_kv_heads, .q_len = q_len, .kv_len = kv_len,
                                       .kv_capacity = kv_capacity, .head_dim = head_dim, .scale = scale});
}

/* Entries are copied as they are, in every format. */
#define KV_CACHE_APPEND(element, suffix)                                                                               \
    int32_t cuda_kv_cache_append##suffix(const element* input, element* cache, int batch, int new_len, int n_kv_heads, \
                                         int head_dim, int kv_capacity, int position, void* stream) {                  \
        (void)stream;                                                                                                  \
        CHECK_ARRAY(input, batch, new_len, n_kv_heads, head_dim);                                                      \
        CHECK_ARRAY(cache, batch, kv_capacity, n_kv_heads, head_dim);                                                  \
        CHECK(position >= 0 && (int64_t)position + new_len <= kv_capacity);                                            \
        const int64_t width = (int64_t)n_kv_heads * head_dim, part = new_len * width;                                  \
        for (int64_t b = 0; b < batch; b++)                                                                            \
            memcpy(cache + (b * kv_capacity + position) * width, input + b * part, (size_t)part * sizeof(element));    \
        return ASSAYER_OK;                                                                                             \
    }
KV_CACHE_APPEND(float, )
KV_CACHE_APPEND(assayer_bf16, _bf16)
KV_CACHE_APPEND(assayer_fp16, _fp16)
