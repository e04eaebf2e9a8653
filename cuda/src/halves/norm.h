/* Norms of one 16-bit format, for operations.c. */

int32_t HALF(cuda_rmsnorm)(const half_bits* input, const float* weight, half_bits* output, int rows, int hidden_dim, float eps,
                           void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(output, rows, hidden_dim);
    CHECK(eps >= 0);
    const struct half_rows* const v = ROWS;
    const int64_t n = hidden_dim;
    PARALLEL_FOR(rows * n >= SERIAL_BELOW)
    for (int64_t row = 0; row < rows; row++) {
        const half_bits* const x = input + row * n;
        v->normalise(n, x, (float)inverse_root(v->dot(n, x, x), n, eps), weight, output + row * n);
    }
    return ASSAYER_OK;
}

/* What is normalised is the sum before it is rounded: a thread keeps a row of sums. */
int32_t HALF(cuda_rmsnorm_residual)(const half_bits* input, const half_bits* residual, const float* weight, half_bits* output,
                                    half_bits* residual_out, int rows, int hidden_dim, float eps, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(residual, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(output, rows, hidden_dim);
    CHECK_ARRAY(residual_out, rows, hidden_dim);
    CHECK(eps >= 0);
    const struct half_rows* const v = ROWS;
    const int64_t n = hidden_dim;
    const struct scratch scratch = scratch_take(n, thread_count() * (int64_t)sizeof(float));
    if (scratch.memory) {
        PARALLEL_FOR(rows * n >= SERIAL_BELOW)
        for (int64_t row = 0; row < rows; row++) {
            float* const sums = (float*)scratch.memory + thread_index() * n;
            v->add_wide(n, input + row * n, residual + row * n, sums);
            FORMAT.narrow(n, sums, residual_out + row * n);
            v->normalise_wide(n, sums, (float)inverse_root(simd()->dot(n, sums, sums), n, eps), weight, output + row * n);
        }
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

int32_t HALF(cuda_rmsnorm_backward)(const half_bits* input, const float* weight, const half_bits* d_output, half_bits* d_input,
                                    float* d_weight, int rows, int hidden_dim, float eps, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(d_output, rows, hidden_dim);
    CHECK_ARRAY(d_input, rows, hidden_dim);
    CHECK_ARRAY(d_weight, hidden_dim);
    CHECK(eps >= 0);
    const struct half_gradient half = {ROWS, input, d_output, NULL, d_input};
    return rmsnorm_gradient(&(struct rmsnorm_gradient){.weight = weight, .d_weight = d_weight, .rows = rows, .n = hidden_dim,
                                                       .eps = eps, .beta = beta, .half = &half});
}

int32_t HALF(cuda_rmsnorm_residual_backward)(const half_bits* residual_out, const float* weight, const half_bits* d_output,
                                             const half_bits* d_residual_out, half_bits* d_input, float* d_weight, int rows,
                                             int hidden_dim, float eps, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(residual_out, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(d_output, rows, hidden_dim);
    CHECK_ARRAY(d_residual_out, rows, hidden_dim);
    CHECK_ARRAY(d_input, rows, hidden_dim);
    CHECK_ARRAY(d_weight, hidden_dim);
    CHECK(eps >= 0);
    const struct half_gradient half = {ROWS, residual_out, d_output, d_residual_out, d_input};
    return rmsnorm_gradient(&(struct rmsnorm_gradient){.weight = weight, .d_weight = d_weight, .rows = rows, .n = hidden_dim,
                                                       .eps = eps, .beta = beta, .half = &half});
}
