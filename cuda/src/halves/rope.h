/* Rotary position embedding of one 16-bit format, for operations.c. */

int32_t HALF(cuda_rope_qk)(const half_bits* q, const half_bits* k, const float* freqs, half_bits* q_out, half_bits* k_out, int batch,
                           int seq_len, int n_q_heads, int n_kv_heads, int head_dim, int offset, void* stream) {
    (void)stream;
    CHECK(head_dim % 2 == 0 && offset >= 0);
    CHECK_ARRAY(q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(q_out, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(k, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(k_out, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(freqs, (int64_t)seq_len + offset, head_dim / 2);
    return rotate(&(struct rotation){{{q, q_out, n_q_heads}, {k, k_out, n_kv_heads}}, batch, seq_len, head_dim,
                                     freqs + (int64_t)offset * (head_dim / 2), 1.0f, ROWS});
}

int32_t HALF(cuda_rope_qk_backward)(const half_bits* d_q_out, const half_bits* d_k_out, const float* freqs, half_bits* d_q,
                                    half_bits* d_k, int batch, int seq_len, int n_q_heads, int n_kv_heads, int head_dim, int offset,
                                    void* stream) {
    (void)stream;
    CHECK(head_dim % 2 == 0 && offset >= 0);
    CHECK_ARRAY(d_q_out, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(d_q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(d_k_out, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(d_k, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(freqs, (int64_t)seq_len + offset, head_dim / 2);
    return rotate(&(struct rotation){{{d_q_out, d_q, n_q_heads}, {d_k_out, d_k, n_kv_heads}}, batch, seq_len, head_dim,
                                     freqs + (int64_t)offset * (head_dim / 2), -1.0f, ROWS});
}
