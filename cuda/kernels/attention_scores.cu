/* Attention in two calls, for one KV head: a product for each (batch, head). */
#include "product.cuh"

int32_t cuda_attention_scores(const float* Q, const float* K, float* scores, int batch, int n_heads, int seq_len,
                              int head_dim, float scale, void* stream) {
    CHECK_ARRAY(Q, batch, seq_len, n_heads, head_dim);
    CHECK_ARRAY(K, batch, seq_len, head_dim);
    CHECK_ARRAY(scores, batch, n_heads, seq_len, seq_len);
    const int64_t n = seq_len, d = head_dim, width = n_heads * d;
    Product p = {Q, K, scores, true, true, n, n, d, width, d, n};
    p.alpha = scale;
    p.causal = true;
    p.batches = batch;
    p.heads = n_heads;
    p.a_batch = n * width;
    p.a_head = d;
    p.b_batch = n * d;
    p.c_batch = n_heads * n * n;
    p.c_head = n * n;
    return multiply(p, stream);
}

int32_t cuda_attention_output(const float* weights, const float* V, float* output, int batch, int n_heads, int seq_len,
                              int head_dim, void* stream) {
    CHECK_ARRAY(weights, batch, n_heads, seq_len, seq_len);
    CHECK_ARRAY(V, batch, seq_len, head_dim);
    CHECK_ARRAY(output, batch, seq_len, n_heads, head_dim);
    const int64_t n = seq_len, d = head_dim, width = n_heads * d;
    Product p = {weights, V, output, true, false, n, d, n, n, d, width};
    p.batches = batch;
    p.heads = n_heads;
    p.a_batch = n_heads * n * n;
    p.a_head = n * n;
    p.b_batch = n * d;
    p.c_batch = n * width;
    p.c_head = d;
    return multiply(p, stream);
}
