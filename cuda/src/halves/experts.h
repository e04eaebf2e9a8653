/* What experts are sent and send back in one 16-bit format, for operations.c. */

int32_t HALF(cuda_expert_dispatch_backward)(const half_bits* d_output, const int32_t* position, half_bits* d_input, int tokens,
                                            int top_k, int hidden_dim, void* stream) {
    (void)stream;
    CHECK_ARRAY(d_output, tokens, top_k, hidden_dim);
    CHECK_ARRAY(position, tokens, top_k);
    CHECK_ARRAY(d_input, tokens, hidden_dim);
    CHECK(all_within(position, (int64_t)tokens * top_k, 0, (int64_t)tokens * top_k));
    gather(ROWS, &FORMAT, &(struct gathered){d_output, NULL, position, d_input, tokens, top_k, hidden_dim});
    return ASSAYER_OK;
}

int32_t HALF(cuda_expert_combine)(const half_bits* input, const float* weights, const int32_t* position, half_bits* output, int tokens,
                                  int top_k, int hidden_dim, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, tokens, top_k, hidden_dim);
    CHECK_ARRAY(weights, tokens, top_k);
    CHECK_ARRAY(position, tokens, top_k);
    CHECK_ARRAY(output, tokens, hidden_dim);
    CHECK(all_within(position, (int64_t)tokens * top_k, 0, (int64_t)tokens * top_k));
    gather(ROWS, &FORMAT, &(struct gathered){input, weights, position, output, tokens, top_k, hidden_dim});
    return ASSAYER_OK;
}

int32_t HALF(cuda_expert_combine_backward)(const half_bits* input, const float* weights, const int32_t* position,
                                           const half_bits* d_output, half_bits* d_input, float* d_weights, int tokens, int top_k,
                                           int hidden_dim, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, tokens, top_k, hidden_dim);
    CHECK_ARRAY(weights, tokens, top_k);
    CHECK_ARRAY(position, tokens, top_k);
    CHECK_ARRAY(d_output, tokens, hidden_dim);
    CHECK_ARRAY(d_input, tokens, top_k, hidden_dim);
    CHECK_ARRAY(d_weights, tokens, top_k);
    const int64_t width = hidden_dim, pairs = (int64_t)tokens * top_k;
    const int32_t code = check_permutation(position, pairs);
    if (code != ASSAYER_OK) return code;
    const struct half_rows* const v = ROWS;
    PARALLEL_FOR(pairs * width >= SERIAL_BELOW)
    for (int64_t i = 0; i < pairs; i++) {
        const half_bits* const dy = d_output + i / top_k * width;
        v->scale(width, dy, weights[i], d_input + position[i] * width);
        d_weights[i] = (float)v->dot(width, dy, input + position[i] * width);
    }
    return ASSAYER_OK;
}
