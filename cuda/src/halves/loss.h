/* The loss, and the gradient of a table of rows, of one 16-bit format, for operations.c. */

/* A row of logits is widened where its log-probabilities come to stand. */
int32_t HALF(cuda_cross_entropy_forward)(const half_bits* logits, const int* targets, float* loss, float* log_probs, int batch_seq,
                                         int vocab_size, void* stream) {
    (void)stream;
    CHECK_ARRAY(logits, batch_seq, vocab_size);
    CHECK_ARRAY(targets, batch_seq);
    CHECK_ARRAY(loss, 1);
    CHECK_ARRAY(log_probs, batch_seq, vocab_size);
    CHECK(all_within(targets, batch_seq, INT32_MIN, vocab_size));
    const struct simd* const v = simd();
    const int64_t cols = vocab_size;
    PARALLEL_FOR(batch_seq * cols >= SERIAL_BELOW)
    for (int64_t row = 0; row < batch_seq; row++) {
        float* const x = log_probs + row * cols;
        FORMAT.widen(cols, logits + row * cols, x);
        const float row_max = v->maximum(cols, x);
        v->shift(cols, x, row_max, (float)log(v->exp_sum(cols, x, row_max)), x);
    }
    loss[0] = mean_loss(log_probs, targets, batch_seq, cols);
    return ASSAYER_OK;
}

int32_t HALF(cuda_cross_entropy_backward)(const float* log_probs, const int* targets, half_bits* d_logits, int batch_seq,
                                          int vocab_size, float scale, void* stream) {
    (void)stream;
    CHECK_ARRAY(log_probs, batch_seq, vocab_size);
    CHECK_ARRAY(targets, batch_seq);
    CHECK_ARRAY(d_logits, batch_seq, vocab_size);
    CHECK(all_within(targets, batch_seq, INT32_MIN, vocab_size));
    const int64_t cols = vocab_size;
    PARALLEL_FOR(batch_seq * cols >= SERIAL_BELOW)
    for (int64_t row = 0; row < batch_seq; row++) {
        half_bits* const dx = d_logits + row * cols;
        if (targets[row] < 0) {
            memset(dx, 0, (size_t)cols * sizeof(half_bits));
            continue;
        }
        ROWS->scaled_exp(cols, log_probs + row * cols, scale, dx);
        /* Subtracted before the scale: near 1 the two differ. */
        float probability;
        simd()->scaled_exp(1, log_probs + row * cols + targets[row], 1.0f, &probability);
        const float gradient = (probability - 1.0f) * scale;
        FORMAT.narrow(1, &gradient, dx + targets[row]);
    }
    return ASSAYER_OK;
}

/* Rows of the table are dealt out to shares by index, so that each is added to by one thread, in the order of indices. */
int32_t HALF(cuda_scatter_add)(const half_bits* grad_output, const int* indices, float* grad_weight, int num_indices,
                               int embedding_dim, void* stream) {
    (void)stream;
    CHECK_ARRAY(grad_output, num_indices, embedding_dim);
    CHECK_ARRAY(indices, num_indices);
    CHECK_ARRAY(grad_weight, embedding_dim);
    const int64_t width = embedding_dim, shares = num_indices * width >= SERIAL_BELOW ? thread_count() : 1;
    PARALLEL_FOR(shares > 1)
    for (int64_t share = 0; share < shares; share++)
        for (int64_t i = 0; i < num_indices; i++)
            if (indices[i] >= 0 && indices[i] % shares == share)
                ROWS->axpy(width, 1.0f, grad_output + i * width, grad_weight + indices[i] * width);
    return ASSAYER_OK;
}
