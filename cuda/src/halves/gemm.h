/* The products of one 16-bit format, for whoever includes this: HALF(name) is the name with the format's suffix, FORMAT the format. */

int32_t HALF(cuda_gemm)(const half_bits* A, const half_bits* B, half_bits* C, int M, int N, int K, void* stream) {
    return HALF(cuda_gemm_beta)(A, B, C, M, N, K, 1.0f, 0.0f, stream);
}

int32_t HALF(cuda_router_gemm)(const half_bits* A, const half_bits* B, float* C, int M, int N, int K, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B, N, K);
    CHECK_ARRAY(C, M, N);
    return one(plain_half(A, K), transposed_half(B, K), C, M, N, K, (struct half_sums){FORMAT, true, 1.0f, 0.0f});
}

int32_t HALF(cuda_gemm_beta)(const half_bits* A, const half_bits* B, half_bits* C, int M, int N, int K, float alpha, float beta,
                             void* stream) {
    (void)stream;
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B, N, K);
    CHECK_ARRAY(C, M, N);
    return one(plain_half(A, K), transposed_half(B, K), C, M, N, K, (struct half_sums){FORMAT, false, alpha, beta});
}

int32_t HALF(cuda_gemm_nn)(const half_bits* A, const half_bits* B, half_bits* C, int M, int N, int K, float alpha, float beta,
                           void* stream) {
    (void)stream;
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B, K, N);
    CHECK_ARRAY(C, M, N);
    return one(plain_half(A, K), plain_half(B, N), C, M, N, K, (struct half_sums){FORMAT, false, alpha, beta});
}

int32_t HALF(cuda_gemm_tn)(const half_bits* A, const half_bits* B, float* C, int M, int N, int K, float alpha, float beta,
                           void* stream) {
    (void)stream;
    CHECK_ARRAY(A, K, M);
    CHECK_ARRAY(B, K, N);
    CHECK_ARRAY(C, M, N);
    return one(transposed_half(A, M), plain_half(B, N), C, M, N, K, (struct half_sums){FORMAT, true, alpha, beta});
}

int32_t HALF(cuda_gemm_tt)(const half_bits* A, const half_bits* B, half_bits* C, int M, int N, int K, float alpha, float beta,
                           void* stream) {
    (void)stream;
    CHECK_ARRAY(A, K, M);
    CHECK_ARRAY(B, N, K);
    CHECK_ARRAY(C, M, N);
    return one(transposed_half(A, M), transposed_half(B, K), C, M, N, K, (struct half_sums){FORMAT, false, alpha, beta});
}

int32_t HALF(cuda_grouped_gemm)(const half_bits* A, const half_bits* B, const int32_t* offsets, half_bits* C, int rows, int n_experts,
                                int N, int K, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, rows, K);
    CHECK_ARRAY(B, n_experts, N, K);
    CHECK_ARRAY(offsets, (int64_t)n_experts + 1);
    CHECK_ARRAY(C, rows, N);
    CHECK(offsets_fit(offsets, n_experts, rows));
    const struct half_operands o = {A, B, offsets, C, 0, N, K};
    return many(n_experts, grouped, &o, (struct half_sums){FORMAT, false, 1.0f, 0.0f});
}

int32_t HALF(cuda_grouped_gemm_nn)(const half_bits* A, const half_bits* B, const int32_t* offsets, half_bits* C, int rows,
                                   int n_experts, int N, int K, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, rows, K);
    CHECK_ARRAY(B, n_experts, K, N);
    CHECK_ARRAY(offsets, (int64_t)n_experts + 1);
    CHECK_ARRAY(C, rows, N);
    CHECK(offsets_fit(offsets, n_experts, rows));
    const struct half_operands o = {A, B, offsets, C, 0, N, K};
    return many(n_experts, grouped_nn, &o, (struct half_sums){FORMAT, false, 1.0f, 0.0f});
}

int32_t HALF(cuda_grouped_gemm_tn)(const half_bits* A, const half_bits* B, const int32_t* offsets, float* C, int rows, int n_experts,
                                   int M, int N, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, rows, M);
    CHECK_ARRAY(B, rows, N);
    CHECK_ARRAY(offsets, (int64_t)n_experts + 1);
    CHECK_ARRAY(C, n_experts, M, N);
    CHECK(offsets_fit(offsets, n_experts, rows));
    const struct half_operands o = {A, B, offsets, C, M, N, 0};
    return many(n_experts, grouped_tn, &o, (struct half_sums){FORMAT, true, 1.0f, beta});
}

int32_t HALF(cuda_gemm_swiglu)(const half_bits* A, const half_bits* B_gate, const half_bits* B_up, half_bits* gate, half_bits* up,
                               half_bits* output, int M, int N, int K, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B_gate, N, K);
    CHECK_ARRAY(B_up, N, K);
    CHECK_ARRAY(gate, M, N);
    CHECK_ARRAY(up, M, N);
    CHECK_ARRAY(output, M, N);
    const struct half_product product = gated(&(struct gated_operands){A, B_gate, B_up, gate, up, output, N, K}, 0, M, 0);
    return multiply_halves(&product, 1, &(struct half_sums){FORMAT, false, 1.0f, 0.0f});
}

int32_t HALF(cuda_grouped_gemm_swiglu)(const half_bits* A, const half_bits* B_gate, const half_bits* B_up, const int32_t* offsets,
                                       half_bits* gate, half_bits* up, half_bits* output, int rows, int n_experts, int N, int K,
                                       void* stream) {
    (void)stream;
    CHECK_ARRAY(A, rows, K);
    CHECK_ARRAY(B_gate, n_experts, N, K);
    CHECK_ARRAY(B_up, n_experts, N, K);
    CHECK_ARRAY(offsets, (int64_t)n_experts + 1);
    CHECK_ARRAY(gate, rows, N);
    CHECK_ARRAY(up, rows, N);
    CHECK_ARRAY(output, rows, N);
    CHECK(offsets_fit(offsets, n_experts, rows));
    return many_gated(&(struct gated_operands){A, B_gate, B_up, gate, up, output, N, K}, offsets, n_experts, FORMAT);
}
