/* The gradient of the router in one kernel: through the weights of those chosen, and through the loss that balances.
 *
 * A team of threads takes a token.  It reads the token's probabilities and 12 bytes for each choice, and writes as many
 * gradients; the counts of all experts are the same for every token and lie in the cache.  Bound by memory where there
 * are many experts, by how long a token's choices take where there are few. */
#include "half.cuh"
#include "topk_gradient.cuh"

namespace {

template <typename T> struct RouterBackward {
    const float* weights;
    const int32_t* indices;
    const float *probs, *f_counts, *d_weights;
    T* d_logits;
    int64_t tokens;
    int n_experts, top_k;
    float factor; /* of a count, in the gradient of a probability */
};

template <typename L, typename T>
__global__ void __launch_bounds__(L::BLOCK, 1) topk_router_backward_kernel(const RouterBackward<T> r) {
    const int64_t token = L::team();
    if (token >= r.tokens) return;
    const float* const p = r.probs + token * r.n_experts;
    const Parts<L> parts{r.n_experts};
    float probs[L::ITEMS], counts[L::ITEMS], inner = 0.0f;
    for (int part = 0; part < parts.count(); part++) {
        L::load(p + parts.start(part), parts.left(part), 0.0f, probs);
        L::load(r.f_counts + parts.start(part), parts.left(part), 0.0f, counts);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) inner += probs[i] * counts[i];
    }
    inner = team_sum<L::THREADS>(inner);
    const int64_t at = token * r.top_k;
    ChosenGradient chosen = {r.weights + at, r.d_weights + at, r.indices + at, r.top_k};
    chosen.sum<L>(r.n_experts);
    for (int part = parts.count() - 1; part >= 0; part--) {
        const int left = parts.left(part);
        if (part < parts.count() - 1) {
            L::load(p + parts.start(part), left, 0.0f, probs);
            L::load(r.f_counts + parts.start(part), left, 0.0f, counts);
        }
        float items[L::ITEMS];
        chosen.at_columns<L>(parts.start(part), items);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] += probs[i] * (r.factor * (counts[i] - inner));
        L::store(r.d_logits + token * r.n_experts + parts.start(part), left, items);
    }
}

/* The factor is taken in double, as tokens^2 may be no float. */
float factor_of(int64_t tokens, int n_experts, float alpha, float scale) {
    const double all = static_cast<double>(tokens);
    return static_cast<float>(static_cast<double>(scale) * alpha * n_experts / (all * all));
}

template <typename T> int32_t topk_router_backward(const RouterBackward<T>& r, void* stream) {
    CHECK_ARRAY(r.weights, r.tokens, r.top_k);
    CHECK_ARRAY(r.indices, r.tokens, r.top_k);
    CHECK_ARRAY(r.probs, r.tokens, r.n_experts);
    CHECK_ARRAY(r.f_counts, r.n_experts);
    CHECK_ARRAY(r.d_weights, r.tokens, r.top_k);
    CHECK_ARRAY(r.d_logits, r.tokens, r.n_experts);
    CHECK(r.top_k <= r.n_experts);
    const bool quads = rows_of_quads(r.n_experts, r.probs, r.f_counts, r.d_logits);
    return with_row_layout<3, T>(r.n_experts, quads, [=](auto layout) {
        using L = decltype(layout);
        topk_router_backward_kernel<L, T><<<blocks_for(r.tokens, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(r);
        return launched();
    });
}

} // namespace

#define TOPK_ROUTER_BACKWARD(Declared, T, suffix)                                                                      \
    int32_t cuda_topk_router_backward##suffix(const float* weights, const int32_t* indices, const float* probs,        \
                                              const float* f_counts, const float* d_weights, Declared* d_logits,       \
                                              int tokens, int n_experts, int top_k, float alpha, float scale,          \
                                              void* stream) {                                                          \
        const RouterBackward<T> r = {weights,   indices,                                                               \
                                     probs,     f_counts,                                                              \
                                     d_weights, numbers_of<T>(d_logits),                                               \
                                     tokens,    n_experts,                                                             \
                                     top_k,     factor_of(tokens, n_experts, alpha, scale)};                           \
        return topk_router_backward(r, stream);                                                                        \
    }
FOR_EACH_STORAGE(TOPK_ROUTER_BACKWARD)
