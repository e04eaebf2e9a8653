/* The 16-bit operations, for one format: HALF(name) is the name with the format's suffix, FORMAT the format.
 *
 * What is read is widened, the float32 operation computes, what is stored is rounded once.  A `staged` is an array of the
 * caller's in 16 bits, and in float32 meanwhile. */

int32_t HALF(cuda_cast_to)(const float* input, half_bits* output, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    return narrow(FORMAT, input, output, n, stream);
}

int32_t HALF(cuda_cast_from)(const half_bits* input, float* output, int64_t n, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    return widen(FORMAT, input, output, n, stream);
}

int32_t HALF(cuda_swiglu)(const half_bits* gate, const half_bits* up, half_bits* output, int64_t n,
                          void* stream) {
    struct staged all[] = {read_from(gate, ELEMENTS(n)), read_from(up, ELEMENTS(n)),
                           written_to(output, ELEMENTS(n))};
    STAGED(all, cuda_swiglu(all[0].wide, all[1].wide, all[2].wide, n, stream))
}

int32_t HALF(cuda_swiglu_backward)(const half_bits* gate, const half_bits* up, const half_bits* d_output,
                                   half_bits* d_gate, half_bits* d_up, int64_t n, void* stream) {
    struct staged all[] = {read_from(gate, ELEMENTS(n)), read_from(up, ELEMENTS(n)),
                           read_from(d_output, ELEMENTS(n)), written_to(d_gate, ELEMENTS(n)),
                           written_to(d_up, ELEMENTS(n))};
    STAGED(all, cuda_swiglu_backward(all[0].wide, all[1].wide, all[2].wide, all[3].wide, all[4].wide, n,
                                     stream))
}

int32_t HALF(cuda_add)(const half_bits* a, const half_bits* b, half_bits* output, int64_t n, void* stream) {
    struct staged all[] = {read_from(a, ELEMENTS(n)), read_from(b, ELEMENTS(n)),
                           written_to(output, ELEMENTS(n))};
    STAGED(all, cuda_add(all[0].wide, all[1].wide, all[2].wide, n, stream))
}

int32_t HALF(cuda_rmsnorm)(const half_bits* input, const float* weight, half_bits* output, int rows,
                           int hidden_dim, float eps, void* stream) {
    struct staged all[] = {read_from(input, ELEMENTS(rows, hidden_dim)),
                           written_to(output, ELEMENTS(rows, hidden_dim))};
    STAGED(all, cuda_rmsnorm(all[0].wide, weight, all[1].wide, rows, hidden_dim, eps, stream))
}

int32_t HALF(cuda_rmsnorm_backward)(const half_bits* input, const float* weight, const half_bits* d_output,
                                    half_bits* d_input, float* d_weight, int rows, int hidden_dim, float eps,
                                    float beta, void* stream) {
    struct staged all[] = {read_from(input, ELEMENTS(rows, hidden_dim)),
                           read_from(d_output, ELEMENTS(rows, hidden_dim)),
                           written_to(d_input, ELEMENTS(rows, hidden_dim))};
    STAGED(all, cuda_rmsnorm_backward(all[0].wide, weight, all[1].wide, all[2].wide, d_weight, rows, hidden_dim,
                                      eps, beta, stream))
}

int32_t HALF(cuda_rmsnorm_residual)(const half_bits* input, const half_bits* residual, const float* weight,
                                    half_bits* output, half_bits* residual_out, int rows, int hidden_dim,
                                    float eps, void* stream) {
    struct staged all[] = {read_from(input, ELEMENTS(rows, hidden_dim)),
                           read_from(residual, ELEMENTS(rows, hidden_dim)),
                           written_to(output, ELEMENTS(rows, hidden_dim)),
                           written_to(residual_out, ELEMENTS(rows, hidden_dim))};
    STAGED(all, cuda_rmsnorm_residual(all[0].wide, all[1].wide, weight, all[2].wide, all[3].wide, rows,
                                      hidden_dim, eps, stream))
}

int32_t HALF(cuda_rmsnorm_residual_backward)(const half_bits* residual_out, const float* weight,
                                             const half_bits* d_output, const half_bits* d_residual_out,
                                             half_bits* d_input, float* d_weight, int rows, int hidden_dim,
                                             float eps, float beta, void* stream) {
    struct staged all[] = {read_from(residual_out, ELEMENTS(rows, hidden_dim)),
                           read_from(d_output, ELEMENTS(rows, hidden_dim)),
                           read_from(d_residual_out, ELEMENTS(rows, hidden_dim)),
                           written_to(d_input, ELEMENTS(rows, hidden_dim))};
    STAGED(all, cuda_rmsnorm_residual_backward(all[0].wide, weight, all[1].wide, all[2].wide, all[3].wide,
                                               d_weight, rows, hidden_dim, eps, beta, stream))
}

int32_t HALF(cuda_rope_qk)(const half_bits* q, const half_bits* k, const float* freqs, half_bits* q_out,
                           half_bits* k_out, int batch, int seq_len, int n_q_heads, int n_kv_heads,
                           int head_dim, int offset, void* stream) {
    CHECK(head_dim % 2 == 0 && offset >= 0); /* before arrays are read by these sizes */
    struct staged all[] = {read_from(q, ELEMENTS(batch, seq_len, n_q_heads, head_dim)),
                           read_from(k, ELEMENTS(batch, seq_len, n_kv_heads, head_dim)),
                           written_to(q_out, ELEMENTS(batch, seq_len, n_q_heads, head_dim)),
                           written_to(k_out, ELEMENTS(batch, seq_len, n_kv_heads, head_dim))};
    STAGED(all, cuda_rope_qk(all[0].wide, all[1].wide, freqs, all[2].wide, all[3].wide, batch, seq_len,
                             n_q_heads, n_kv_heads, head_dim, offset, stream))
}

int32_t HALF(cuda_rope_qk_backward)(const half_bits* d_q_out, const half_bits* d_k_out, const float* freqs,
                                    half_bits* d_q, half_bits* d_k, int batch, int seq_len, int n_q_heads,
                                    int n_kv_heads, int head_dim, int offset, void* stream) {
    CHECK(head_dim % 2 == 0 && offset >= 0); /* before arrays are read by these sizes */
    struct staged all[] = {read_from(d_q_out, ELEMENTS(batch, seq_len, n_q_heads, head_dim)),
                           read_from(d_k_out, ELEMENTS(batch, seq_len, n_kv_heads, head_dim)),
                           written_to(d_q, ELEMENTS(batch, seq_len, n_q_heads, head_dim)),
                           written_to(d_k, ELEMENTS(batch, seq_len, n_kv_heads, head_dim))};
    STAGED(all, cuda_rope_qk_backward(all[0].wide, all[1].wide, freqs, all[2].wide, all[3].wide, batch, seq_len,
                                      n_q_heads, n_kv_heads, head_dim, offset, stream))
}

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

int32_t HALF(cuda_expert_dispatch_backward)(const half_bits* d_output, const int32_t* position,
                                            half_bits* d_input, int tokens, int top_k, int hidden_dim,
                                            void* stream) {
    struct staged all[] = {read_from(d_output, ELEMENTS(tokens, top_k, hidden_dim)),
                           written_to(d_input, ELEMENTS(tokens, hidden_dim))};
    STAGED(all, cuda_expert_dispatch_backward(all[0].wide, position, all[1].wide, tokens, top_k, hidden_dim,
                                              stream))
}

int32_t HALF(cuda_expert_combine)(const half_bits* input, const float* weights, const int32_t* position,
                                  half_bits* output, int tokens, int top_k, int hidden_dim, void* stream) {
    struct staged all[] = {read_from(input, ELEMENTS(tokens, top_k, hidden_dim)),
                           written_to(output, ELEMENTS(tokens, hidden_dim))};
    STAGED(all, cuda_expert_combine(all[0].wide, weights, position, all[1].wide, tokens, top_k, hidden_dim,
                                    stream))
}

int32_t HALF(cuda_expert_combine_backward)(const half_bits* input, const float* weights,
                                           const int32_t* position, const half_bits* d_output,
                                           half_bits* d_input, float* d_weights, int tokens, int top_k,
                                           int hidden_dim, void* stream) {
    struct staged all[] = {read_from(input, ELEMENTS(tokens, top_k, hidden_dim)),
                           read_from(d_output, ELEMENTS(tokens, hidden_dim)),
                           written_to(d_input, ELEMENTS(tokens, top_k, hidden_dim))};
    STAGED(all, cuda_expert_combine_backward(all[0].wide, weights, position, all[1].wide, all[2].wide,
                                             d_weights, tokens, top_k, hidden_dim, stream))
}

int32_t HALF(cuda_cross_entropy_forward)(const half_bits* logits, const int* targets, float* loss,
                                         float* log_probs, int batch_seq, int vocab_size, void* stream) {
    struct staged all[] = {read_from(logits, ELEMENTS(batch_seq, vocab_size))};
    STAGED(all, cuda_cross_entropy_forward(all[0].wide, targets, loss, log_probs, batch_seq, vocab_size,
                                           stream))
}

int32_t HALF(cuda_cross_entropy_backward)(const float* log_probs, const int* targets, half_bits* d_logits,
                                          int batch_seq, int vocab_size, float scale, void* stream) {
    struct staged all[] = {written_to(d_logits, ELEMENTS(batch_seq, vocab_size))};
    STAGED(all, cuda_cross_entropy_backward(log_probs, targets, all[0].wide, batch_seq, vocab_size, scale,
                                            stream))
}

int32_t HALF(cuda_scatter_add)(const half_bits* grad_output, const int* indices, float* grad_weight,
                               int num_indices, int embedding_dim, void* stream) {
    struct staged all[] = {read_from(grad_output, ELEMENTS(num_indices, embedding_dim))};
    STAGED(all, cuda_scatter_add(all[0].wide, indices, grad_weight, num_indices, embedding_dim, stream))
}
