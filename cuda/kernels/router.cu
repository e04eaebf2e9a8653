/* The router in one kernel: softmax, the k largest, and the loss that balances the experts.
 *
 * A warp takes a token, whose logits it reads once and holds in registers; a block takes a tile of tokens.  Lanes add
 * up the probabilities, and how often a token holds an expert, of the experts that they have; a block's sums of both
 * lie in memory, and the block that is the last to put its own there adds up all, in the order of the tiles: which
 * block that is changes no bit.  Of a token it reads its logits and writes as many probabilities, and 8 bytes for each
 * choice: bound by how long a token's choices take, one after the other. */
#include "aux_loss.cuh"
#include "cast.cuh"
#include "functions.cuh"
#include "online.cuh"
#include "scratch.cuh"
#include "topk.cuh"

namespace {

constexpr int TILE_TOKENS = 64;
constexpr int MOST_EXPERTS = 512; /* that a warp holds; more are routed by the operations that this one is made of */

template <typename T> struct Router {
    const T* logits;
    float* weights;
    int32_t* indices;
    float *probs, *aux_loss, *f_counts, *p_means;
    int64_t tokens;
    int n_experts, top_k;
    float alpha;
    float* sums = nullptr;    /* [tile, expert] */
    int* counts = nullptr;    /* [tile, expert] */
    unsigned* done = nullptr; /* tiles; 0 before */
};

/* Of the experts of a lane. */
template <typename L> struct Load {
    float sums[L::ITEMS] = {};
    int counts[L::ITEMS] = {};
};

template <typename L, typename T> __device__ void route_token(const Router<T>& r, int64_t token, Load<L>& load) {
    const T* const x = r.logits + token * r.n_experts;
    const Parts<L> parts{r.n_experts};
    float items[L::ITEMS], probs[L::ITEMS];
    const Peak peak = row_peak<L>(x, parts, items);
    const float factor = 1.0f / peak.sum;
#pragma unroll
    for (int i = 0; i < L::ITEMS; i++) {
        probs[i] = expf(items[i] - peak.max) * factor;
        if (L::column(i) < r.n_experts) load.sums[i] += probs[i];
    }
    L::store(r.probs + token * r.n_experts, r.n_experts, probs);
    const int64_t at = token * r.top_k;
    choose_topk(x, parts, items, r.weights + at, r.indices + at, r.top_k, [&](int chosen) {
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) load.counts[i] += L::column(i) == chosen;
    });
}

/* A tile's sums and counts: those of its warps, in their order. */
template <typename L, typename T> __device__ void add_warps(const Router<T>& r, const Load<L>& load, int64_t tile) {
    __shared__ float sums[L::TEAMS][L::PART];
    __shared__ int counts[L::TEAMS][L::PART];
    const int warp = threadIdx.x / WARP;
#pragma unroll
    for (int i = 0; i < L::ITEMS; i++) {
        sums[warp][L::column(i)] = load.sums[i];
        counts[warp][L::column(i)] = load.counts[i];
    }
    __syncthreads();
    for (int expert = threadIdx.x; expert < r.n_experts; expert += L::BLOCK) {
        float sum = sums[0][expert];
        int count = counts[0][expert];
        for (int other = 1; other < L::TEAMS; other++) {
            sum += sums[other][expert];
            count += counts[other][expert];
        }
        r.sums[tile * r.n_experts + expert] = sum;
        r.counts[tile * r.n_experts + expert] = count;
    }
}

/* True in every thread of the block that is the last of all to come here; what the others wrote before can be read. */
__device__ bool is_last(unsigned* done) {
    __shared__ bool last;
    __syncthreads(); /* all of the block have written */
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}

/* All tiles of an expert, to a warp; then all experts. */
template <typename L, typename T> __device__ void balance(const Router<T>& r) {
    const int warp = threadIdx.x / WARP, lane = lane_of_thread();
    const float tokens = static_cast<float>(r.tokens);
    float total = 0.0f;
    for (int expert = warp; expert < r.n_experts; expert += L::TEAMS) {
        float sum = 0.0f;
        int count = 0;
        for (int64_t tile = lane; tile < gridDim.x; tile += WARP) {
            sum += r.sums[tile * r.n_experts + expert];
            count += r.counts[tile * r.n_experts + expert];
        }
        const float mean = warp_fold(sum, Sum{}) / tokens, counted = static_cast<float>(warp_fold(count, Sum{}));
        if (lane > 0) continue;
        r.f_counts[expert] = counted;
        r.p_means[expert] = mean;
        total += counted / tokens * mean;
    }
    total = team_sum<L::BLOCK>(total);
    if (threadIdx.x == 0) r.aux_loss[0] = r.alpha * static_cast<float>(r.n_experts) * total;
}

template <typename L, typename T> __global__ void __launch_bounds__(L::BLOCK) topk_router_kernel(const Router<T> r) {
    const int64_t first = blockIdx.x * int64_t{TILE_TOKENS}, stop = min64(first + TILE_TOKENS, r.tokens);
    Load<L> load;
    for (int64_t token = first + threadIdx.x / WARP; token < stop; token += L::TEAMS) route_token(r, token, load);
    add_warps(r, load, blockIdx.x);
    if (is_last(r.done)) balance<L>(r);
}

template <typename T> int32_t route(Router<T> r, void* stream) {
    const int64_t tiles = ceil_div(r.tokens, TILE_TOKENS), loads = tiles * r.n_experts;
    const Scratch scratch((2 * loads + 1) * int64_t{sizeof(float)}, stream_of(stream));
    TRY(scratch.code());
    r.sums = scratch.as<float>();
    r.counts = scratch.as<int>() + loads;
    r.done = scratch.as<unsigned>() + 2 * loads;
    TRY(code_of(cudaMemsetAsync(r.done, 0, sizeof *r.done, stream_of(stream))));
    const auto launch = [&](auto layout) {
        using L = decltype(layout);
        topk_router_kernel<L><<<blocks_for(tiles, 1), L::BLOCK, 0, stream_of(stream)>>>(r);
        return launched();
    };
    return r.n_experts <= 128 ? launch(RowLayout<WARP, 4, 1>{}) : launch(RowLayout<WARP, 16, 1>{});
}

/* By softmax, softmax_topk and aux_loss_forward, each of which takes rows of any length; memory is taken first. */
int32_t route_many(const Router<float>& r, void* stream) {
    const int tokens = static_cast<int>(r.tokens);
    const Scratch scratch(aux_loss_memory(tokens, r.n_experts), stream_of(stream));
    TRY(scratch.code());
    TRY(cuda_softmax(r.logits, r.probs, tokens, r.n_experts, stream));
    TRY(cuda_softmax_topk(r.logits, r.weights, r.indices, tokens, r.n_experts, r.top_k, stream));
    return aux_loss_in(scratch.as<void>(), r.probs, r.indices, r.aux_loss, r.f_counts, r.p_means, tokens, r.n_experts,
                       r.top_k, r.alpha, stream);
}

template <typename Format> int32_t route_many(const Router<Format>& r, void* stream) {
    const int64_t n = r.tokens * r.n_experts;
    const Scratch scratch(n * int64_t{sizeof(float)}, stream_of(stream));
    TRY(scratch.code());
    float* const wide = scratch.as<float>();
    TRY(widen(Format(), reinterpret_cast<const half_bits*>(r.logits), wide, n, stream));
    return route_many(Router<float>{wide, r.weights, r.indices, r.probs, r.aux_loss, r.f_counts, r.p_means, r.tokens,
                                    r.n_experts, r.top_k, r.alpha},
                      stream);
}

template <typename T> int32_t topk_router(const Router<T>& r, void* stream) {
    CHECK_ARRAY(r.logits, r.tokens, r.n_experts);
    CHECK_ARRAY(r.weights, r.tokens, r.top_k);
    CHECK_ARRAY(r.indices, r.tokens, r.top_k);
    CHECK_ARRAY(r.probs, r.tokens, r.n_experts);
    CHECK_ARRAY(r.aux_loss, 1);
    CHECK_ARRAY(r.f_counts, r.n_experts);
    CHECK_ARRAY(r.p_means, r.n_experts);
    CHECK(r.top_k >= 1 && r.top_k <= r.n_experts);
    return r.n_experts <= MOST_EXPERTS ? route(r, stream) : route_many(r, stream);
}

} // namespace

#define TOPK_ROUTER(Declared, T, suffix)                                                                               \
    int32_t cuda_topk_router##suffix(const Declared* logits, float* weights, int32_t* indices, float* probs,           \
                                     float* aux_loss, float* f_counts, float* p_means, int tokens, int n_experts,      \
                                     int top_k, float alpha, void* stream) {                                           \
        const Router<T> r = {numbers_of<T>(logits),                                                                    \
                             weights,                                                                                  \
                             indices,                                                                                  \
                             probs,                                                                                    \
                             aux_loss,                                                                                 \
                             f_counts,                                                                                 \
                             p_means,                                                                                  \
                             tokens,                                                                                   \
                             n_experts,                                                                                \
                             top_k,                                                                                    \
                             alpha};                                                                                   \
        return topk_router(r, stream);                                                                                 \
    }
FOR_EACH_STORAGE(TOPK_ROUTER)
