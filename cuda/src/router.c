/* The router in one pass: a token's row of logits is read once, and what its expert's load becomes by it is added up while the
 * row lies in the cache.  Tokens are cut into chunks, each with a load of its own, and the chunks' loads are added in order. */
#include "aux_loss.h"
#include "check.h"
#include "order.h"
#include "parallel.h"
#include "scratch.h"
#include "softmax.h"

#include <string.h>

enum { TOKENS_OF_CHUNK = 256 };

struct router {
    const void* logits;        /* of float32, or */
    const struct half* format; /* of this format, widened a row at a time */
    float* weights;
    int32_t* indices;
    float* probs;
    int64_t tokens;
    int n_experts, top_k;
};

/* What a thread needs beside its chunk. */
struct workspace {
    uint32_t* order;
    float* wide; /* a row */
};

static const float* row_of(const struct router* r, int64_t token, float* wide) {
    const int64_t at = token * r->n_experts;
    if (!r->format) return (const float*)r->logits + at;
    r->format->widen(r->n_experts, (const uint16_t*)r->logits + at, wide);
    return wide;
}

static void route(const struct router* r, int64_t first, int64_t last, struct load load, struct workspace own) {
    const struct simd* const v = simd();
    memset(load.counts, 0, (size_t)r->n_experts * sizeof *load.counts);
    for (int64_t e = 0; e < r->n_experts; e++) load.sums[e] = 0;
    for (int64_t token = first; token < last; token++) {
        const float* const x = row_of(r, token, own.wide);
        int32_t* const chosen = r->indices + token * r->top_k;
        float* const probs = r->probs + token * r->n_experts;
        softmax_topk_row(v, x, r->n_experts, r->top_k, r->weights + token * r->top_k, chosen, own.order);
        v->scale(r->n_experts, probs, (float)(1 / v->exp_shifted(r->n_experts, x, v->maximum(r->n_experts, x), probs)), probs);
        for (int j = 0; j < r->top_k; j++) load.counts[chosen[j]]++;
        for (int64_t e = 0; e < r->n_experts; e++) load.sums[e] += probs[e];
    }
}

/* Adds the chunks' loads to the first one's. */
static struct load add_loads(struct load load, int64_t chunks, int64_t n_experts) {
    for (int64_t i = n_experts; i < chunks * n_experts; i++) {
        load.counts[i % n_experts] += load.counts[i];
        load.sums[i % n_experts] += load.sums[i];
    }
    return load;
}

static int32_t route_all(const struct router* r, float alpha, float* aux_loss, float* f_counts, float* p_means) {
    CHECK_ARRAY(r->logits ? (const uint16_t*)r->logits : NULL, r->tokens, r->n_experts);
    CHECK_ARRAY(r->weights, r->tokens, r->top_k);
    CHECK_ARRAY(r->indices, r->tokens, r->top_k);
    CHECK_ARRAY(r->probs, r->tokens, r->n_experts);
    CHECK_ARRAY(aux_loss, 1);
    CHECK_ARRAY(f_counts, r->n_experts);
    CHECK_ARRAY(p_means, r->n_experts);
    CHECK(r->top_k >= 1 && r->top_k <= r->n_experts);
    const int64_t chunks = ceil_div(r->tokens, TOKENS_OF_CHUNK), loads = chunks * r->n_experts;
    const int64_t order = order_memory(r->n_experts, r->top_k), each = order + r->n_experts;
    const struct scratch scratch = scratch_take(4 * loads + each * thread_count(), sizeof(uint32_t));
    if (scratch.memory) {
        const struct load load = {scratch.memory, (double*)scratch.memory + loads};
        uint32_t* const own = (uint32_t*)(load.sums + loads);
        PARALLEL_FOR(r->tokens * r->n_experts >= SERIAL_BELOW)
        for (int64_t chunk = 0; chunk < chunks; chunk++) {
            const int64_t first = chunk * TOKENS_OF_CHUNK, at = chunk * r->n_experts;
            uint32_t* const mine = own + each * thread_index();
            route(r, first, min64(first + TOKENS_OF_CHUNK, r->tokens), (struct load){load.counts + at, load.sums + at},
                  (struct workspace){mine, (float*)(mine + order)});
        }
        balance(add_loads(load, chunks, r->n_experts), r->tokens, r->n_experts, alpha, aux_loss, f_counts, p_means);
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

#define TOPK_ROUTER(element, suffix, of_format)                                                                        \
    int32_t cuda_topk_router##suffix(const element* logits, float* weights, int32_t* indices, float* probs,            \
                                     float* aux_loss, float* f_counts, float* p_means, int tokens, int n_experts,      \
                                     int top_k, float alpha, void* stream) {                                           \
        (void)stream;                                                                                                  \
        const struct router r = {logits, of_format, weights, indices, probs, tokens, n_experts, top_k};                \
        return route_all(&r, alpha, aux_loss, f_counts, p_means);                                                      \
    }
TOPK_ROUTER(float, , NULL)
TOPK_ROUTER(assayer_bf16, _bf16, &simd()->bf16)
TOPK_ROUTER(assayer_fp16, _fp16, &simd()->fp16)
