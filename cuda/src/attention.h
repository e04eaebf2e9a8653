/* What attention forward and backward share. */
#ifndef ASSAYER_ATTENTION_H
#define ASSAYER_ATTENTION_H

#include "product.h"

enum { QUERY_BLOCK = 64 };

struct attention {
    const float *Q, *K, *V;
    float *output, *lse_out; /* lse_out may be null */
    int64_t batch, n_q_heads, n_kv_heads, q_len, kv_len, kv_capacity, head_dim;
    float scale;
};

/* Keys and values of every (batch, KV head) packed as the second factor of a product: "across" head_dim x keys, "down"
 * keys x head_dim. */
struct packed {
    float *k_across, *k_down, *v_across, *v_down;
};

int64_t packed_size(const struct simd* v, int64_t depth, int64_t columns);

/* Where the keys of a (batch, KV head) begin. */
static inline int64_t kv_at(const struct attention* s, int64_t pair) {
    return (pair / s->n_kv_heads * s->kv_capacity * s->n_kv_heads + pair % s->n_kv_heads) * s->head_dim;
}

#endif
