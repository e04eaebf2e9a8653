/* Gate and up as one product: SwiGLU is applied to every run of both by the thread that has summed them, while they lie in the
 * cache. */
#include "check.h"
#include "product.h"
#include "scratch.h"

struct swiglu {
    struct finish finish; /* first, so that a pointer to it is one to the whole */
    const float *gate, *up;
    float* output;
};

static void finish_run(const struct finish* finish, const struct simd* v, int64_t n, int64_t at, int64_t column) {
    (void)column;
    const struct swiglu* const s = (const struct swiglu*)finish;
    v->swiglu(n, s->gate + at, s->up + at, s->output + at);
}

struct arguments {
    const float *A, *B_gate, *B_up;
    float *gate, *up, *output;
    int64_t N, K;
};

/* The product of so many rows from `start` on by an expert's weights. */
static void describe(const struct arguments* a, int64_t start, int64_t rows, int64_t expert, struct product* product, struct swiglu* swiglu) {
    const int64_t at = start * a->N, weights = expert * a->N * a->K;
    *swiglu = (struct swiglu){{finish_run}, a->gate + at, a->up + at, a->output + at};
    *product = (struct product){.a = plain(a->A + start * a->K, a->K), .b = transposed(a->B_gate + weights, a->K),
                                .b2 = transposed(a->B_up + weights, a->K), .c = a->gate + at, .c2 = a->up + at, .c_row = a->N,
                                .rows = rows, .columns = a->N, .depth = a->K, .finish = &swiglu->finish};
}

int32_t cuda_gemm_swiglu(const float* A, const float* B_gate, const float* B_up, float* gate, float* up, float* output, int M, int N,
                         int K, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B_gate, N, K);
    CHECK_ARRAY(B_up, N, K);
    CHECK_ARRAY(gate, M, N);
    CHECK_ARRAY(up, M, N);
    CHECK_ARRAY(output, M, N);
    struct product product;
    struct swiglu swiglu;
    describe(&(struct arguments){A, B_gate, B_up, gate, up, output, N, K}, 0, M, 0, &product, &swiglu);
    return multiply_all(&product, 1, 1.0f, 0.0f);
}

int32_t cuda_grouped_gemm_swiglu(const float* A, const float* B_gate, const float* B_up, const int32_t* offsets, float* gate, float* up,
                                 float* output, int rows, int n_experts, int N, int K, void* stream) {
    (void)stream;
    CHECK_ARRAY(A, rows, K);
    CHECK_ARRAY(B_gate, n_experts, N, K);
    CHECK_ARRAY(B_up, n_experts, N, K);
    CHECK_ARRAY(offsets, (int64_t)n_experts + 1);
    CHECK_ARRAY(gate, rows, N);
    CHECK_ARRAY(up, rows, N);
    CHECK_ARRAY(output, rows, N);
    CHECK(offsets_fit(offsets, n_experts, rows));
    const struct arguments a = {A, B_gate, B_up, gate, up, output, N, K};
    const struct scratch scratch = scratch_take(n_experts, sizeof(struct product) + sizeof(struct swiglu));
    int32_t code = ASSAYER_NO_MEMORY;
    if (scratch.memory) {
        struct product* const products = scratch.memory;
        struct swiglu* const swiglus = (struct swiglu*)(products + n_experts);
        for (int64_t e = 0; e < n_experts; e++) describe(&a, offsets[e], offsets[e + 1] - offsets[e], e, &products[e], &swiglus[e]);
        code = multiply_all(products, n_experts, 1.0f, 0.0f);
    }
    scratch_give(scratch);
    return code;
}
