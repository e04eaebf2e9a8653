/* The products of assayer.h in 16 bits as views on one routine: product.c. */
#include "../check.h"
#include "../scratch.h"
#include "halves.h"

typedef uint16_t half_bits;

static int32_t one(struct half_matrix a, struct half_matrix b, void* C, int M, int N, int K, struct half_sums sums) {
    return multiply_halves(&(struct half_product){.a = a, .b = b, .c = C, .c_row = N, .rows = M, .columns = N, .depth = K}, 1, &sums);
}

struct half_operands {
    const half_bits *A, *B;
    const int32_t* offsets;
    void* C;
    int64_t M, N, K;
};

/* Runs count products, by their descriptions. */
static int32_t many(int64_t count, struct half_product (*describe)(const struct half_operands*, int64_t), const struct half_operands* o,
                    struct half_sums sums) {
    const struct scratch scratch = scratch_take(count, sizeof(struct half_product));
    int32_t code = ASSAYER_NO_MEMORY;
    if (scratch.memory) {
        struct half_product* const products = scratch.memory;
        for (int64_t i = 0; i < count; i++) products[i] = describe(o, i);
        code = multiply_halves(products, count, &sums);
    }
    scratch_give(scratch);
    return code;
}

/* rows x N per expert, of its rows of A. */
static struct half_product grouped(const struct half_operands* o, int64_t e) {
    const int64_t start = o->offsets[e], rows = o->offsets[e + 1] - start;
    return (struct half_product){.a = plain_half(o->A + start * o->K, o->K), .b = transposed_half(o->B + e * o->N * o->K, o->K),
                                 .c = (half_bits*)o->C + start * o->N, .c_row = o->N, .rows = rows, .columns = o->N, .depth = o->K};
}

static struct half_product grouped_nn(const struct half_operands* o, int64_t e) {
    struct half_product p = grouped(o, e);
    p.b = plain_half(o->B + e * o->K * o->N, o->N);
    return p;
}

/* M x N per expert, summed over its rows. */
static struct half_product grouped_tn(const struct half_operands* o, int64_t e) {
    const int64_t start = o->offsets[e];
    return (struct half_product){.a = transposed_half(o->A + start * o->M, o->M), .b = plain_half(o->B + start * o->N, o->N),
                                 .c = (float*)o->C + e * o->M * o->N, .c_row = o->N, .rows = o->M, .columns = o->N,
                                 .depth = o->offsets[e + 1] - start};
}

/* Gate and up of an expert's rows, and what they make. */
struct gated_operands {
    const half_bits *A, *B_gate, *B_up;
    half_bits *gate, *up, *output;
    int64_t N, K;
};

static struct half_product gated(const struct gated_operands* o, int64_t start, int64_t rows, int64_t expert) {
    const int64_t at = start * o->N, weights = expert * o->N * o->K;
    return (struct half_product){.a = plain_half(o->A + start * o->K, o->K), .b = transposed_half(o->B_gate + weights, o->K),
                                 .b_up = transposed_half(o->B_up + weights, o->K), .c = o->gate + at, .up = o->up + at,
                                 .gated = o->output + at, .rows = rows, .columns = o->N, .depth = o->K, .c_row = o->N};
}

static int32_t many_gated(const struct gated_operands* o, const int32_t* offsets, int64_t n_experts, struct half format) {
    const struct scratch scratch = scratch_take(n_experts, sizeof(struct half_product));
    int32_t code = ASSAYER_NO_MEMORY;
    if (scratch.memory) {
        struct half_product* const products = scratch.memory;
        for (int64_t e = 0; e < n_experts; e++) products[e] = gated(o, offsets[e], offsets[e + 1] - offsets[e], e);
        code = multiply_halves(products, n_experts, &(struct half_sums){format, false, 1.0f, 0.0f});
    }
    scratch_give(scratch);
    return code;
}

#define FORMAT (simd()->bf16)
#define HALF(name) name##_bf16
#include "gemm.h"
#undef FORMAT
#undef HALF
#define FORMAT (simd()->fp16)
#define HALF(name) name##_fp16
#include "gemm.h"
