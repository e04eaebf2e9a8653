/* Attention of one 16-bit format, for operations.c. */

int32_t HALF(cuda_attention_forward)(const half_bits* Q, const half_bits* K, const half_bits* V, half_bits* output, float* lse, int batch,
                                     int n_q_heads, int n_kv_heads, int q_len, int kv_len, int kv_capacity, int head_dim, float scale,
                                     void* stream) {
    (void)stream;
    CHECK_ARRAY(Q, batch, q_len, n_q_heads, head_dim);
    CHECK_ARRAY(K, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK_ARRAY(V, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK_ARRAY(output, batch, q_len, n_q_heads, head_dim);
    CHECK_ARRAY(lse, batch, n_q_heads, q_len);
    CHECK(n_q_heads % n_kv_heads == 0 && kv_len >= q_len && kv_len <= kv_capacity);
    return attention_forward(&(struct attention){
        .Q = Q, .K = K, .V = V, .output = output, .lse_out = lse, .batch = batch, .n_q_heads = n_q_heads, .n_kv_heads = n_kv_heads,
        .q_len = q_len, .kv_len = kv_len, .kv_capacity = kv_capacity, .head_dim = head_dim, .scale = scale, .half = &FORMAT,
        .unit = unit_of(&FORMAT)});
}

int32_t HALF(cuda_attention_backward)(const half_bits* Q, const half_bits* K, const half_bits* V, const half_bits* output,
                                      const float* lse, const half_bits* d_output, half_bits* d_Q, half_bits* d_K, half_bits* d_V,
                                      int batch, int n_q_heads, int n_kv_heads, int seq_len, int head_dim, float scale, void* stream) {
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
                                    .q_len = seq_len, .kv_len = seq_len, .kv_capacity = seq_len, .head_dim = head_dim, .scale = scale,
                                    .half = &FORMAT, .unit = unit_of(&FORMAT)};
    return attention_backward(&shape, &(struct attention_gradients){.output = output, .d_output = d_output, .lse = lse, .d_Q = d_Q,
                                                                    .d_K = d_K, .d_V = d_V});
}
