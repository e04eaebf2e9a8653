/* The 16-bit operations, for one format: HALF(name) is the name with the format's suffix, FORMAT the format.
 *
 * What is read is widened, the float32 operation computes, what is stored is rounded once.  A `staged` is an array of the
 * caller's in 16 bits, and in float32 meanwhile. */

int32_t HALF(cuda_attention_forward)(const half_bits* Q, const half_bits* K, const half_bits* V,
                                     half_bits* output, float* lse, int batch, int n_q_heads, int n_kv_heads,
                                     int q_len, int kv_len, int kv_capacity, int head_dim, float scale,
                                     void* stream) {
    /* before arrays are read by these sizes */
    CHECK(n_kv_heads >= 1 && n_q_heads % n_kv_heads == 0 && kv_len >= q_len && kv_len <= kv_capacity);
    struct staged all[] = {read_from(Q, ELEMENTS(batch, q_len, n_q_heads, head_dim)),
                           read_from(K, ELEMENTS(batch, kv_capacity, n_kv_heads, head_dim)),
                           read_from(V, ELEMENTS(batch, kv_capacity, n_kv_heads, head_dim)),
                           written_to(output, ELEMENTS(batch, q_len, n_q_heads, head_dim))};
    STAGED(all, cuda_attention_forward(all[0].wide, all[1].wide, all[2].wide, all[3].wide, lse, batch,
                                       n_q_heads, n_kv_heads, q_len, kv_len, kv_capacity, head_dim, scale,
                                       stream))
}

int32_t HALF(cuda_attention_backward)(const half_bits* Q, const half_bits* K, const half_bits* V,
                                      const half_bits* output, const float* lse, const half_bits* d_output,
                                      half_bits* d_Q, half_bits* d_K, half_bits* d_V, int batch, int n_q_heads,
                                      int n_kv_heads, int seq_len, int head_dim, float scale, void* stream) {
    CHECK(n_kv_heads >= 1 && n_q_heads % n_kv_heads == 0); /* before arrays are read by these sizes */
    struct staged all[] = {read_from(Q, ELEMENTS(batch, seq_len, n_q_heads, head_dim)),
                           read_from(K, ELEMENTS(batch, seq_len, n_kv_heads, head_dim)),
                           read_from(V, ELEMENTS(batch, seq_len, n_kv_heads, head_dim)),
                           read_from(output, ELEMENTS(batch, seq_len, n_q_heads, head_dim)),
                           read_from(d_output, ELEMENTS(batch, seq_len, n_q_heads, head_dim)),
                           written_to(d_Q, ELEMENTS(batch, seq_len, n_q_heads, head_dim)),
                           written_to(d_K, ELEMENTS(batch, seq_len, n_kv_heads, head_dim)),
                           written_to(d_V, ELEMENTS(batch, seq_len, n_kv_heads, head_dim))};
    STAGED(all, cuda_attention_backward(all[0].wide, all[1].wide, all[2].wide, all[3].wide, lse, all[4].wide,
                                        all[5].wide, all[6].wide, all[7].wide, batch, n_q_heads, n_kv_heads,
                                        seq_len, head_dim, scale, stream))
}

