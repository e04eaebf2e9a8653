/* The products of assayer.h in 16 bits as views on one routine of each format. */
#include "matrix_bf16.cuh"
#include "matrix_fp16.cuh"

namespace {

/* Of row-major matrices; a transposed A is K x M, a transposed B is N x K. */
template <typename Out>
ProductOf<half_bits, Out> one(const half_bits* A, bool a_transposed, const half_bits* B, bool b_transposed, Out* C,
                              int64_t M, int64_t N, int64_t K) {
    return {A, B, C, !a_transposed, b_transposed, M, N, K, a_transposed ? M : K, b_transposed ? K : N, N};
}

template <typename Format, typename Out>
int32_t multiply_scaled(ProductOf<half_bits, Out> p, float alpha, float beta, void* stream) {
    p.alpha = alpha;
    p.beta = beta;
    return multiply_halves(Format(), p, stream);
}

template <typename Format>
int32_t gemm_beta(const half_bits* A, const half_bits* B, half_bits* C, int M, int N, int K, float alpha, float beta,
                  void* stream) {
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B, N, K);
    CHECK_ARRAY(C, M, N);
    return multiply_scaled<Format>(one(A, false, B, true, C, M, N, K), alpha, beta, stream);
}

template <typename Format>
int32_t router_gemm(const half_bits* A, const half_bits* B, float* C, int M, int N, int K, void* stream) {
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B, N, K);
    CHECK_ARRAY(C, M, N);
    return multiply_halves(Format(), one(A, false, B, true, C, M, N, K), stream);
}

template <typename Format>
int32_t gemm_nn(const half_bits* A, const half_bits* B, half_bits* C, int M, int N, int K, float alpha, float beta,
                void* stream) {
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B, K, N);
    CHECK_ARRAY(C, M, N);
    return multiply_scaled<Format>(one(A, false, B, false, C, M, N, K), alpha, beta, stream);
}

template <typename Format>
int32_t gemm_tn(const half_bits* A, const half_bits* B, float* C, int M, int N, int K, float alpha, float beta,
                void* stream) {
    CHECK_ARRAY(A, K, M);
    CHECK_ARRAY(B, K, N);
    CHECK_ARRAY(C, M, N);
    return multiply_scaled<Format>(one(A, true, B, false, C, M, N, K), alpha, beta, stream);
}

template <typename Format>
int32_t gemm_tt(const half_bits* A, const half_bits* B, half_bits* C, int M, int N, int K, float alpha, float beta,
                void* stream) {
    CHECK_ARRAY(A, K, M);
    CHECK_ARRAY(B, N, K);
    CHECK_ARRAY(C, M, N);
    return multiply_scaled<Format>(one(A, true, B, true, C, M, N, K), alpha, beta, stream);
}

/* Experts own rows of A and C, each has a B. */
template <typename Format>
int32_t grouped(const half_bits* A, const half_bits* B, bool b_transposed, const int32_t* offsets, half_bits* C,
                int rows, int n_experts, int N, int K, void* stream) {
    CHECK_ARRAY(A, rows, K);
    CHECK_ARRAY(B, n_experts, N, K);
    CHECK_ARRAY(offsets, int64_t{n_experts} + 1);
    CHECK_ARRAY(C, rows, N);
    ProductOf<half_bits> p = one(A, false, B, b_transposed, C, rows, N, K);
    p.groups = Groups::ROWS;
    p.offsets = offsets;
    p.experts = n_experts;
    p.grouped = rows;
    p.b_expert = p.columns * p.depth;
    return multiply_halves(Format(), p, stream);
}

/* Experts own rows of A and B, over which each has a sum. */
template <typename Format>
int32_t grouped_tn(const half_bits* A, const half_bits* B, const int32_t* offsets, float* C, int rows, int n_experts,
                   int M, int N, float beta, void* stream) {
    CHECK_ARRAY(A, rows, M);
    CHECK_ARRAY(B, rows, N);
    CHECK_ARRAY(offsets, int64_t{n_experts} + 1);
    CHECK_ARRAY(C, n_experts, M, N);
    ProductOf<half_bits, float> p = one(A, true, B, false, C, M, N, rows);
    p.groups = Groups::DEPTH;
    p.offsets = offsets;
    p.experts = n_experts;
    p.grouped = rows;
    p.c_expert = p.rows * p.columns;
    return multiply_scaled<Format>(p, 1.0f, beta, stream);
}

} // namespace

#define PRODUCTS_OF(Format, suffix)                                                                                    \
    int32_t cuda_gemm_##suffix(const half_bits* A, const half_bits* B, half_bits* C, int M, int N, int K,              \
                               void* stream) {                                                                         \
        return gemm_beta<Format>(A, B, C, M, N, K, 1.0f, 0.0f, stream);                                                \
    }                                                                                                                  \
    int32_t cuda_router_gemm_##suffix(const half_bits* A, const half_bits* B, float* C, int M, int N, int K,           \
                                      void* stream) {                                                                  \
        return router_gemm<Format>(A, B, C, M, N, K, stream);                                                          \
    }                                                                                                                  \
    int32_t cuda_gemm_beta_##suffix(const half_bits* A, const half_bits* B, half_bits* C, int M, int N, int K,         \
                                    float alpha, float beta, void* stream) {                                           \
        return gemm_beta<Format>(A, B, C, M, N, K, alpha, beta, stream);                                               \
    }                                                                                                                  \
    int32_t cuda_gemm_nn_##suffix(const half_bits* A, const half_bits* B, half_bits* C, int M, int N, int K,           \
                                  float alpha, float beta, void* stream) {                                             \
        return gemm_nn<Format>(A, B, C, M, N, K, alpha, beta, stream);                                                 \
    }                                                                                                                  \
    int32_t cuda_gemm_tn_##suffix(const half_bits* A, const half_bits* B, float* C, int M, int N, int K, float alpha,  \
                                  float beta, void* stream) {                                                          \
        return gemm_tn<Format>(A, B, C, M, N, K, alpha, beta, stream);                                                 \
    }                                                                                                                  \
    int32_t cuda_gemm_tt_##suffix(const half_bits* A, const half_bits* B, half_bits* C, int M, int N, int K,           \
                                  float alpha, float beta, void* stream) {                                             \
        return gemm_tt<Format>(A, B, C, M, N, K, alpha, beta, stream);                                                 \
    }                                                                                                                  \
    int32_t cuda_grouped_gemm_##suffix(const half_bits* A, const half_bits* B, const int32_t* offsets, half_bits* C,   \
                                       int rows, int n_experts, int N, int K, void* stream) {                          \
        return grouped<Format>(A, B, true, offsets, C, rows, n_experts, N, K, stream);                                 \
    }                                                                                                                  \
    int32_t cuda_grouped_gemm_nn_##suffix(const half_bits* A, const half_bits* B, const int32_t* offsets,              \
                                          half_bits* C, int rows, int n_experts, int N, int K, void* stream) {         \
        return grouped<Format>(A, B, false, offsets, C, rows, n_experts, N, K, stream);                                \
    }                                                                                                                  \
    int32_t cuda_grouped_gemm_tn_##suffix(const half_bits* A, const half_bits* B, const int32_t* offsets, float* C,    \
                                          int rows, int n_experts, int M, int N, float beta, void* stream) {           \
        return grouped_tn<Format>(A, B, offsets, C, rows, n_experts, M, N, beta, stream);                              \
    }

PRODUCTS_OF(Bf16, bf16)
PRODUCTS_OF(Fp16, fp16)
