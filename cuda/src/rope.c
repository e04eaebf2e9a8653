/* Rotary position embedding on interleaved pairs. */
#include "rope.h"
#include "check.h"
#include "parallel.h"
#include "scratch.h"

#include <math.h>

int32_t cuda_rope_freqs(float* freqs, int max_seq_len, int head_dim, float base, float alpha, void* stream) {
    (void)stream;
    CHECK(head_dim > 2 && head_dim % 2 == 0 && base > 0 && alpha > 0);
    CHECK_ARRAY(freqs, max_seq_len, head_dim / 2);
    const double scaled_base = base * pow(alpha, head_dim / (head_dim - 2.0));
    PARALLEL_FOR((int64_t)max_seq_len * head_dim >= SERIAL_BELOW)
    for (int64_t d = 0; d < head_dim / 2; d++) {
        const double frequency = pow(scaled_base, -2.0 * (double)d / head_dim);
        for (int64_t position = 0; position < max_seq_len; position++)
            freqs[position * (head_dim / 2) + d] = (float)((double)position * frequency);
    }
    return ASSAYER_OK;
}

/* Every head of every batch at one position; sine and cosine are computed once for them all. */
static void rotate_position(const struct simd* v, const struct rotation* r, int64_t s, float* cosine, float* sine) {
    const int64_t half = r->head_dim / 2;
    for (int64_t d = 0; d < half; d++) {
        const float angle = r->freqs[s * half + d];
        cosine[d] = cosf(angle);
        sine[d] = r->direction * sinf(angle);
    }
    for (int g = 0; g < 2; g++) {
        const struct heads* const group = &r->groups[g];
        for (int64_t b = 0; b < r->batch; b++)
            for (int64_t h = 0; h < group->count; h++) {
                const int64_t at = ((b * r->seq_len + s) * group->count + h) * r->head_dim;
                if (r->half) r->half->rotate(half, cosine, sine, (const uint16_t*)group->from + at, (uint16_t*)group->to + at);
                else v->rotate(half, cosine, sine, (const float*)group->from + at, (float*)group->to + at);
            }
    }
}

int32_t rotate(const struct rotation* r) {
    const struct scratch scratch = scratch_take(r->head_dim, thread_count() * (int64_t)sizeof(float));
    if (scratch.memory) {
        const struct simd* const v = simd();
        const int64_t heads = r->groups[0].count + r->groups[1].count;
        PARALLEL_FOR(r->batch * r->seq_len * heads * r->head_dim >= SERIAL_BELOW)
        for (int64_t s = 0; s < r->seq_len; s++) {
            float* const cosine = (float*)scratch.memory + thread_index() * r->head_dim;
            rotate_position(v, r, s, cosine, cosine + r->head_dim / 2);
        }
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

static int32_t rotate_one(const float* input, const float* freqs, float* output, int batch, int seq_len, int n_heads, int head_dim,
                          int offset, float direction) {
    CHECK(head_dim % 2 == 0 && offset >= 0);
    CHECK_ARRAY(input, batch, seq_len, n_heads, head_dim);
    CHECK_ARRAY(output, batch, seq_len, n_heads, head_dim);
    CHECK_ARRAY(freqs, (int64_t)seq_len + offset, head_dim / 2);
    return rotate(&(struct rotation){{{input, output, n_heads}}, batch, seq_len, head_dim, freqs + (int64_t)offset * (head_dim / 2),
                                     direction, NULL});
}

int32_t cuda_rope_forward(const float* input, const float* freqs, float* output, int batch, int seq_len, int n_heads, int head_dim,
                          int offset, void* stream) {
    (void)stream;
    return rotate_one(input, freqs, output, batch, seq_len, n_heads, head_dim, offset, 1.0f);
}

int32_t cuda_rope_backward(const float* d_output, const float* freqs, float* d_input, int batch, int seq_len, int n_heads,
                           int head_dim, int offset, void* stream) {
    (void)stream;
    return rotate_one(d_output, freqs, d_input, batch, seq_len, n_heads, head_dim, offset, -1.0f);
}

static int32_t rotate_two(const float* q, const float* k, const float* freqs, float* q_out, float* k_out, int batch, int seq_len,
                          int n_q_heads, int n_kv_heads, int head_dim, int offset, float direction) {
    CHECK(head_dim % 2 == 0 && offset >= 0);
    CHECK_ARRAY(q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(q_out, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(k, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(k_out, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(freqs, (int64_t)seq_len + offset, head_dim / 2);
    return rotate(&(struct rotation){{{q, q_out, n_q_heads}, {k, k_out, n_kv_heads}}, batch, seq_len, head_dim,
                                     freqs + (int64_t)offset * (head_dim / 2), direction, NULL});
}

int32_t cuda_rope_qk(const float* q, const float* k, const float* freqs, float* q_out, float* k_out, int batch, int seq_len,
                     int n_q_heads, int n_kv_heads, int head_dim, int offset, void* stream) {
    (void)stream;
    return rotate_two(q, k, freqs, q_out, k_out, batch, seq_len, n_q_heads, n_kv_heads, head_dim, offset, 1.0f);
}

int32_t cuda_rope_qk_backward(const float* d_q_out, const float* d_k_out, const float* freqs, float* d_q, float* d_k, int batch,
                              int seq_len, int n_q_heads, int n_kv_heads, int head_dim, int offset, void* stream) {
    (void)stream;
    return rotate_two(d_q_out, d_k_out, freqs, d_q, d_k, batch, seq_len, n_q_heads, n_kv_heads, head_dim, offset, -1.0f);
}
