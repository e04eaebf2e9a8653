/* The products of assayer.h as views on one routine: product.cu. */
#include "product.cuh"

namespace {

/* Of row-major matrices; a transposed A is K x M, a transposed B is N x K. */
Product one(const float* A, bool a_transposed, const float* B, bool b_transposed, float* C, int64_t M, int64_t N,
            int64_t K) {
    Product p = {A, B, C, !a_transposed, b_transposed, M, N, K, a_transposed ? M : K, b_transposed ? K : N, N};
    return p;
}

int32_t multiply_scaled(Product p, float alpha, float beta, void* stream) {
    p.alpha = alpha;
    p.beta = beta;
    return multiply(p, stream);
}

} // namespace

int32_t cuda_gemm(const float* A, const float* B, float* C, int M, int N, int K, void* stream) {
    return cuda_gemm_beta(A, B, C, M, N, K, 1.0f, 0.0f, stream);
}

int32_t cuda_router_gemm(const float* A, const float* B, float* C, int M, int N, int K, void* stream) {
    return cuda_gemm(A, B, C, M, N, K, stream);
}

int32_t cuda_gemm_beta(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta,
                       void* stream) {
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B, N, K);
    CHECK_ARRAY(C, M, N);
    return multiply_scaled(one(A, false, B, true, C, M, N, K), alpha, beta, stream);
}

int32_t cuda_gemm_nn(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta,
                     void* stream) {
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B, K, N);
    CHECK_ARRAY(C, M, N);
    return multiply_scaled(one(A, false, B, false, C, M, N, K), alpha, beta, stream);
}

int32_t cuda_gemm_tn(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta,
                     void* stream) {
    CHECK_ARRAY(A, K, M);
    CHECK_ARRAY(B, K, N);
    CHECK_ARRAY(C, M, N);
    return multiply_scaled(one(A, true, B, false, C, M, N, K), alpha, beta, stream);
}

int32_t cuda_gemm_tt(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta,
                     void* stream) {
    CHECK_ARRAY(A, K, M);
    CHECK_ARRAY(B, N, K);
    CHECK_ARRAY(C, M, N);
    return multiply_scaled(one(A, true, B, true, C, M, N, K), alpha, beta, stream);
}

int32_t cuda_batched_gemm(const float* A, const float* B, float* C, int batch, int M, int N, int K, void* stream) {
    CHECK_ARRAY(A, batch, M, K);
    CHECK_ARRAY(B, batch, N, K);
    CHECK_ARRAY(C, batch, M, N);
    Product p = one(A, false, B, true, C, M, N, K);
    p.batches = batch;
    p.a_batch = p.rows * p.depth;
    p.b_batch = p.columns * p.depth;
    p.c_batch = p.rows * p.columns;
    return multiply(p, stream);
}

int32_t cuda_grouped_gemm(const float* A, const float* B, const int32_t* offsets, float* C, int rows, int n_experts,
                          int N, int K, void* stream) {
    CHECK_ARRAY(A, rows, K);
    CHECK_ARRAY(B, n_experts, N, K);
    CHECK_ARRAY(offsets, int64_t{n_experts} + 1);
    CHECK_ARRAY(C, rows, N);
    Product p = one(A, false, B, true, C, rows, N, K);
    p.groups = Groups::ROWS;
    p.offsets = offsets;
    p.experts = n_experts;
    p.grouped = rows;
    p.b_expert = p.columns * p.depth;
    return multiply(p, stream);
}

int32_t cuda_grouped_gemm_nn(const float* A, const float* B, const int32_t* offsets, float* C, int rows, int n_experts,
                             int N, int K, void* stream) {
    CHECK_ARRAY(A, rows, K);
    CHECK_ARRAY(B, n_experts, K, N);
    CHECK_ARRAY(offsets, int64_t{n_experts} + 1);
    CHECK_ARRAY(C, rows, N);
    Product p = one(A, false, B, false, C, rows, N, K);
    p.groups = Groups::ROWS;
    p.offsets = offsets;
    p.experts = n_experts;
    p.grouped = rows;
    p.b_expert = p.columns * p.depth;
    return multiply(p, stream);
}

int32_t cuda_grouped_gemm_tn(const float* A, const float* B, const int32_t* offsets, float* C, int rows, int n_experts,
                             int M, int N, float beta, void* stream) {
    CHECK_ARRAY(A, rows, M);
    CHECK_ARRAY(B, rows, N);
    CHECK_ARRAY(offsets, int64_t{n_experts} + 1);
    CHECK_ARRAY(C, n_experts, M, N);
    Product p = one(A, true, B, false, C, M, N, rows);
    p.groups = Groups::DEPTH;
    p.offsets = offsets;
    p.experts = n_experts;
    p.grouped = rows;
    p.c_expert = p.rows * p.columns;
    return multiply_scaled(p, 1.0f, beta, stream);
}
