/* Attention in two calls, for one KV head: a product for each (batch, head). */
#include "check.h"
#include "parallel.h"
#include "product.h"
#include "scratch.h"

#include <math.h>

struct shape {
    int64_t n_heads, seq_len, head_dim;
};

/* A (batch, head)'s rows of [batch, seq_len, n_heads, head_dim]. */
static int64_t head_at(const struct shape* s, int64_t b, int64_t h) {
    return (b * s->seq_len * s->n_heads + h) * s->head_dim;
}

/* scores[b, h] = Q[b, :, h] . K[b]^T, K [batch, seq_len, head_dim]. */
static struct product scores_of(const struct shape* s, int64_t b, int64_t h, const float* Q, const float* K, float* scores) {
    const int64_t n = s->seq_len;
    return (struct product){.a = {Q + head_at(s, b, h), s->n_heads * s->head_dim, 1},
                            .b = transposed(K + b * n * s->head_dim, s->head_dim),
                            .c = scores + (b * s->n_heads + h) * n * n, .c_row = n, .rows = n, .columns = n, .depth = s->head_dim};
}

/* output[b, :, h] = weights[b, h] . V[b]. */
static struct product output_of(const struct shape* s, int64_t b, int64_t h, const float* weights, const float* V, float* output) {
    const int64_t n = s->seq_len;
    return (struct product){.a = plain(weights + (b * s->n_heads + h) * n * n, n),
                            .b = plain(V + b * n * s->head_dim, s->head_dim),
                            .c = output + head_at(s, b, h), .c_row = s->n_heads * s->head_dim, .rows = n, .columns = s->head_dim,
                            .depth = n};
}

static int32_t each_head(const struct shape* s, int64_t batch, const float* first, const float* second, float* result, float alpha,
                         struct product (*describe)(const struct shape*, int64_t, int64_t, const float*, const float*, float*)) {
    const int64_t count = batch * s->n_heads;
    const struct scratch scratch = scratch_take(count, sizeof(struct product));
    struct product* const products = scratch.memory;
    int32_t code = ASSAYER_NO_MEMORY;
    if (products) {
        for (int64_t i = 0; i < count; i++) products[i] = describe(s, i / s->n_heads, i % s->n_heads, first, second, result);
        code = multiply_all(products, count, alpha, 0.0f);
    }
    scratch_give(scratch);
    return code;
}

int32_t cuda_attention_scores(const float* Q, const float* K, float* scores, int batch, int n_heads, int seq_len, int head_dim,
                              float scale, void* stream) {
    (void)stream;
    CHECK_ARRAY(Q, batch, seq_len, n_heads, head_dim);
    CHECK_ARRAY(K, batch, seq_len, head_dim);
    CHECK_ARRAY(scores, batch, n_heads, seq_len, seq_len);
    const int64_t n = seq_len, rows = n * batch * n_heads;
    const int32_t code = each_head(&(struct shape){n_heads, n, head_dim}, batch, Q, K, scores, scale, scores_of);
    if (code != ASSAYER_OK) return code;
    PARALLEL_FOR(rows * n >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++)
        for (int64_t j = row % n + 1; j < n; j++) scores[row * n + j] = -INFINITY;
    return ASSAYER_OK;
}

int32_t cuda_attention_output(const float* weights, const float* V, float* output, int batch, int n_heads, int seq_len, int head_dim,
                              void* stream) {
    (void)stream;
    CHECK_ARRAY(weights, batch, n_heads, seq_len, seq_len);
    CHECK_ARRAY(V, batch, seq_len, head_dim);
    CHECK_ARRAY(output, batch, seq_len, n_heads, head_dim);
    return each_head(&(struct shape){n_heads, seq_len, head_dim}, batch, weights, V, output, 1.0f, output_of);
}
