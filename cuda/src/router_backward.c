/* The gradient of the router's logits, a token's row at a time. */
#include "check.h"
#include "parallel.h"
#include "scratch.h"
#include "softmax.h"

struct router_backward {
    const float* weights;
    const int32_t* indices;
    const float *probs, *f_counts, *d_weights;
    void* d_logits;            /* of float32, or */
    const struct half* format; /* of this format, narrowed a row at a time */
    int64_t tokens;
    int n_experts, top_k;
    double factor; /* of a count, in the gradient of a probability */
};

/* d_logits of a token; through the weights, then through the loss. */
static void row_backward(const struct simd* v, const struct router_backward* r, int64_t token, float* row) {
    const int64_t n = r->n_experts, choices = token * r->top_k;
    const float* const p = r->probs + token * n;
    softmax_topk_row_backward(v, r->weights + choices, r->indices + choices, r->d_weights + choices, r->n_experts, r->top_k, row);
    const double inner = v->dot(n, p, r->f_counts);
    for (int64_t e = 0; e < n; e++) row[e] += (float)(r->factor * p[e] * (r->f_counts[e] - inner));
}

static int32_t backward_all(const struct router_backward* r) {
    CHECK_ARRAY(r->weights, r->tokens, r->top_k);
    CHECK_ARRAY(r->indices, r->tokens, r->top_k);
    CHECK_ARRAY(r->probs, r->tokens, r->n_experts);
    CHECK_ARRAY(r->f_counts, r->n_experts);
    CHECK_ARRAY(r->d_weights, r->tokens, r->top_k);
    CHECK_ARRAY(r->d_logits ? (const uint16_t*)r->d_logits : NULL, r->tokens, r->n_experts);
    CHECK(r->top_k <= r->n_experts);
    CHECK(all_within(r->indices, r->tokens * r->top_k, 0, r->n_experts));
    const int64_t n = r->n_experts;
    const struct scratch scratch = scratch_take(n, thread_count() * (int64_t)sizeof(float));
    if (scratch.memory) {
        const struct simd* const v = simd();
        PARALLEL_FOR(r->tokens * n >= SERIAL_BELOW)
        for (int64_t token = 0; token < r->tokens; token++) {
            float* const own = (float*)scratch.memory + thread_index() * n;
            float* const row = r->format ? own : (float*)r->d_logits + token * n;
            row_backward(v, r, token, row);
            if (r->format) r->format->narrow(n, row, (uint16_t*)r->d_logits + token * n);
        }
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

#define TOPK_ROUTER_BACKWARD(element, suffix, of_format)                                                               \
    int32_t cuda_topk_router_backward##suffix(const float* weights, const int32_t* indices, const float* probs,        \
                                              const float* f_counts, const float* d_weights, element* d_logits,        \
                                              int tokens, int n_experts, int top_k, float alpha, float scale,          \
                                              void* stream) {                                                          \
        (void)stream;                                                                                                  \
        const double factor = (double)scale * alpha * n_experts / ((double)tokens * tokens);                           \
        return backward_all(&(struct router_backward){weights, indices, probs, f_counts, d_weights, d_logits,          \
                                                      of_format, tokens, n_experts, top_k, factor});                   \
    }
TOPK_ROUTER_BACKWARD(float, , NULL)
TOPK_ROUTER_BACKWARD(assayer_bf16, _bf16, &simd()->bf16)
TOPK_ROUTER_BACKWARD(assayer_fp16, _fp16, &simd()->fp16)
