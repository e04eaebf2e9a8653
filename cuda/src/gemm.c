/* The products of assayer.h as views on one routine: product.c. */
#include "check.h"
#include "parallel.h"
#include "product.h"
#include "scratch.h"

static int32_t one(struct matrix a, struct matrix b, float* C, int M, int N, int K, float alpha, float beta) {
    return multiply_all(&(struct product){.a = a, .b = b, .c = C, .c_row = N, .rows = M, .columns = N, .depth = K}, 1, alpha, beta);
}

/* Where columns are few, packed B would be mostly empty: rows of A and of B, which both lie along their depth, are multiplied
 * as they lie.  The flops below which one thread does it all took one 11 us, and two 7. */
enum { FEW_COLUMNS = 16, ROWS_OF_TASK = 64 };
static const double FEW_SERIAL_BELOW_FLOPS = 1e6;

static void few_columns(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
    const struct simd* const v = simd();
    PARALLEL_FOR(2.0 * (double)M * (double)N * (double)K >= FEW_SERIAL_BELOW_FLOPS)
    for (int64_t row = 0; row < M; row += ROWS_OF_TASK) {
        const struct few_rows rows = {A + row * K, K, min64(ROWS_OF_TASK, M - row), K};
        v->dot_rows(&rows, N, B, K, 1.0f, C + row * N, N);
    }
}

int32_t cuda_gemm(const float* A, const float* B, float* C, int M, int N, int K, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B, N, K);
    CHECK_ARRAY(C, M, N);
    if (N <= FEW_COLUMNS) {
        few_columns(A, B, C, M, N, K);
        return ASSAYER_OK;
    }
    return one(plain(A, K), transposed(B, K), C, M, N, K, 1.0f, 0.0f);
}

int32_t cuda_router_gemm(const float* A, const float* B, float* C, int M, int N, int K, void* stream) {
    return cuda_gemm(A, B, C, M, N, K, stream);
}

int32_t cuda_gemm_beta(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B, N, K);
    CHECK_ARRAY(C, M, N);
    return one(plain(A, K), transposed(B, K), C, M, N, K, alpha, beta);
}

int32_t cuda_gemm_nn(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B, K, N);
    CHECK_ARRAY(C, M, N);
    return one(plain(A, K), plain(B, N), C, M, N, K, alpha, beta);
}

int32_t cuda_gemm_tn(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, K, M);
    CHECK_ARRAY(B, K, N);
    CHECK_ARRAY(C, M, N);
    return one(transposed(A, M), plain(B, N), C, M, N, K, alpha, beta);
}

int32_t cuda_gemm_tt(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, K, M);
    CHECK_ARRAY(B, N, K);
    CHECK_ARRAY(C, M, N);
    return one(transposed(A, M), transposed(B, K), C, M, N, K, alpha, beta);
}

/* Runs count products, described by fill(). */
static int32_t many(int64_t count, void (*fill)(struct product*, int64_t, const void*), const void* context, float beta) {
    const struct scratch scratch = scratch_take(count, sizeof(struct product));
    int32_t code = ASSAYER_NO_MEMORY;
    if (scratch.memory) {
        struct product* const products = scratch.memory;
        for (int64_t i = 0; i < count; i++) fill(&products[i], i, context);
        code = multiply_all(products, count, 1.0f, beta);
    }
    scratch_give(scratch);
    return code;
}

struct operands {
    const float *A, *B;
    const int32_t* offsets;
    float* C;
    int64_t M, N, K;
};

static void fill_batched(struct product* p, int64_t i, const void* context) {
    const struct operands* const o = context;
    *p = (struct product){.a = plain(o->A + i * o->M * o->K, o->K), .b = transposed(o->B + i * o->N * o->K, o->K),
                          .c = o->C + i * o->M * o->N, .c_row = o->N, .rows = o->M, .columns = o->N, .depth = o->K};
}

int32_t cuda_batched_gemm(const float* A, const float* B, float* C, int batch, int M, int N, int K, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, batch, M, K);
    CHECK_ARRAY(B, batch, N, K);
    CHECK_ARRAY(C, batch, M, N);
    return many(batch, fill_batched, &(struct operands){A, B, NULL, C, M, N, K}, 0.0f);
}

static void fill_grouped(struct product* p, int64_t e, const void* context) {
    const struct operands* const o = context;
    const int64_t start = o->offsets[e], rows = o->offsets[e + 1] - start;
    *p = (struct product){.a = plain(o->A + start * o->K, o->K), .b = transposed(o->B + e * o->N * o->K, o->K),
                          .c = o->C + start * o->N, .c_row = o->N, .rows = rows, .columns = o->N, .depth = o->K};
}

static void fill_grouped_nn(struct product* p, int64_t e, const void* context) {
    const struct operands* const o = context;
    fill_grouped(p, e, context);
    p->b = plain(o->B + e * o->K * o->N, o->N);
}

/* M x N per expert, summed over its rows. */
static void fill_grouped_tn(struct product* p, int64_t e, const void* context) {
    const struct operands* const o = context;
    const int64_t start = o->offsets[e];
    *p = (struct product){.a = transposed(o->A + start * o->M, o->M), .b = plain(o->B + start * o->N, o->N),
                          .c = o->C + e * o->M * o->N, .c_row = o->N, .rows = o->M, .columns = o->N,
                          .depth = o->offsets[e + 1] - start};
}

int32_t cuda_grouped_gemm(const float* A, const float* B, const int32_t* offsets, float* C, int rows, int n_experts, int N, int K,
                          void* stream) {
    (void)stream;
    CHECK_ARRAY(A, rows, K);
    CHECK_ARRAY(B, n_experts, N, K);
    CHECK_ARRAY(offsets, (int64_t)n_experts + 1);
    CHECK_ARRAY(C, rows, N);
    CHECK(offsets_fit(offsets, n_experts, rows));
    return many(n_experts, fill_grouped, &(struct operands){A, B, offsets, C, 0, N, K}, 0.0f);
}

int32_t cuda_grouped_gemm_nn(const float* A, const float* B, const int32_t* offsets, float* C, int rows, int n_experts, int N,
                             int K, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, rows, K);
    CHECK_ARRAY(B, n_experts, K, N);
    CHECK_ARRAY(offsets, (int64_t)n_experts + 1);
    CHECK_ARRAY(C, rows, N);
    CHECK(offsets_fit(offsets, n_experts, rows));
    return many(n_experts, fill_grouped_nn, &(struct operands){A, B, offsets, C, 0, N, K}, 0.0f);
}

int32_t cuda_grouped_gemm_tn(const float* A, const float* B, const int32_t* offsets, float* C, int rows, int n_experts, int M, int N,
                             float beta, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, rows, M);
    CHECK_ARRAY(B, rows, N);
    CHECK_ARRAY(offsets, (int64_t)n_experts + 1);
    CHECK_ARRAY(C, n_experts, M, N);
    CHECK(offsets_fit(offsets, n_experts, rows));
    return many(n_experts, fill_grouped_tn, &(struct operands){A, B, offsets, C, M, N, 0}, beta);
}
