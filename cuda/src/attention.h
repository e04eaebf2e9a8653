/* What attention forward and backward share, in every format. */
#ifndef ASSAYER_ATTENTION_H
#define ASSAYER_ATTENTION_H

#include "halves/scores.h"
#include "product.h"

enum { QUERY_BLOCK = 64 };

/* Arrays of float, or where half is given of its format; what is summed is float. */
struct attention {
    const void *Q, *K, *V;
    void* output;
    float* lse_out; /* may be null */
    int64_t batch, n_q_heads, n_kv_heads, q_len, kv_len, kv_capacity, head_dim;
    float scale;
    const struct half* half; /* or null */
    const struct unit* unit; /* what multiplies queries by keys, or null */
};

/* Keys and values of every (batch, KV head) packed as the second factor of a product: "across" head_dim x keys, for the unit where
 * there is one, "down" keys x head_dim. */
struct packed {
    float *k_across, *k_down, *v_across, *v_down;
};

int64_t packed_size(const struct simd* v, int64_t depth, int64_t columns);

/* Floats that head_dim x keys packed take. */
int64_t across_size(const struct simd* v, const struct attention* s);

/* Floats that a thread works in besides what it keeps of scores. */
int64_t attention_memory(const struct simd* v, const struct attention* s);

/* `count` rows of head_dim numbers as floats: where they lie, or widened to memory. */
struct matrix rows_of(const struct attention* s, const void* array, int64_t at, int64_t row, int64_t count, float* memory);

/* Float rows that follow each other, stored where they belong. */
void store_rows(const struct attention* s, const float* rows, int64_t count, void* array, int64_t at, int64_t row);

/* Keys of a (batch, KV head) packed across, and down. */
void pack_across(const struct simd* v, const struct attention* s, const void* keys, int64_t pair, float* packed, float* memory);
void pack_down(const struct simd* v, const struct attention* s, const void* keys, int64_t pair, float* packed, float* memory);

/* alpha times `count` rows by the first `columns` keys, packed across, at scores[i * score_row(columns) + j]. */
struct scored {
    const void *rows, *keys;
    const float* packed;
    int64_t at, row, pair, count, columns;
    float alpha, *scores;
};
void score(const struct simd* v, const struct attention* s, const struct scored* of, float* memory);
static inline int64_t score_row(int64_t columns) { return (columns + PAIR_WIDTH - 1) / PAIR_WIDTH * PAIR_WIDTH; }

/* Where the keys of a (batch, KV head) begin. */
static inline int64_t kv_at(const struct attention* s, int64_t pair) {
    return (pair / s->n_kv_heads * s->kv_capacity * s->n_kv_heads + pair % s->n_kv_heads) * s->head_dim;
}

/* Turns a row of scores into exp(score - largest) over the keys it sees and 0 beyond, probabilities up to *scale; returns
 * its log-sum-exp. */
float exponentials(const struct simd* v, float* row, int64_t seen, int64_t columns, float* scale);

int32_t attention_forward(const struct attention* s);

/* The same, of so few queries that packing keys and values would cost more than it saves. */
enum { FEW_QUERIES = 2 };
int32_t attention_decode(const struct attention* s);

struct attention_gradients {
    const void *output, *d_output;
    const float* lse;
    void *d_Q, *d_K, *d_V;
    float *head_d_K, *head_d_V; /* [batch, n_q_heads, seq_len, head_dim], of attention_backward's own */
};
int32_t attention_backward(const struct attention* s, struct attention_gradients* g);

#endif
