/* The loss that balances the experts. */
#include "aux_loss.cuh"
#include "functions.cuh"
#include "reduce.cuh"
#include "scratch.cuh"

namespace {

/* An expert to a lane; the tokens of a tile are dealt out to the warps.  `sums` and `counts`, [tile, expert]:
 * probabilities, and tokens that hold the expert, each once however often its slots name it.  `strays`, [tile]: indices
 * that are no expert. */
constexpr int WARPS = 8, TOKENS = 512;

struct Tiles {
    const float* router_probs;
    const int* expert_indices;
    float* sums;
    int *counts, *strays;
    int64_t tokens;
    int n_experts, top_k;
};

__device__ bool holds(const int* chosen, int top_k, int64_t expert) {
    bool found = false;
    for (int j = 0; j < top_k; j++) found |= chosen[j] == expert;
    return found;
}

/* The sum over the warps of what each lane has, in the lanes of the first. */
template <typename T> __device__ T sum_of_warps(T value) {
    __shared__ T parts[WARPS][WARP];
    const int warp = threadIdx.x / WARP, lane = lane_of_thread();
    parts[warp][lane] = value;
    __syncthreads();
    for (int other = 1; warp == 0 && other < WARPS; other++) value += parts[other][lane];
    return value;
}

__global__ void __launch_bounds__(WARPS* WARP) tile_kernel(Tiles t) {
    const int64_t across = ceil_div(t.n_experts, WARP), tile = blockIdx.x / across, column = blockIdx.x % across;
    const int64_t first = tile * TOKENS, stop = min64(first + TOKENS, t.tokens);
    const int64_t expert = column * WARP + lane_of_thread();
    const int warp = threadIdx.x / WARP;
    float sum = 0.0f;
    int count = 0;
    for (int64_t token = first + warp; expert < t.n_experts && token < stop; token += WARPS) {
        sum += t.router_probs[token * t.n_experts + expert];
        count += holds(t.expert_indices + token * t.top_k, t.top_k, expert);
    }
    int strays = 0;
    for (int64_t i = first * t.top_k + threadIdx.x; column == 0 && i < stop * t.top_k; i += WARPS * WARP)
        strays += t.expert_indices[i] < 0 || t.expert_indices[i] >= t.n_experts;
    strays = team_sum<WARPS * WARP>(strays);
    sum = sum_of_warps(sum);
    count = sum_of_warps(count);
    if (column == 0 && threadIdx.x == 0) t.strays[tile] = strays;
    if (warp > 0 || expert >= t.n_experts) return;
    t.sums[tile * t.n_experts + expert] = sum;
    t.counts[tile * t.n_experts + expert] = count;
}

/* One block: the tiles in order, then the experts.  Where an index is none, no count can be trusted. */
constexpr int THREADS = 256;

__global__ void __launch_bounds__(THREADS)
    aux_loss_kernel(Tiles t, int tiles, float* aux_loss, float* f_counts, float* p_means, float alpha) {
    int strays = 0;
    for (int tile = threadIdx.x; tile < tiles; tile += THREADS) strays += t.strays[tile];
    strays = team_sum<THREADS>(strays);
    const float tokens = static_cast<float>(t.tokens);
    float total = 0.0f;
    for (int64_t expert = threadIdx.x; expert < t.n_experts; expert += THREADS) {
        float sum = 0.0f;
        int count = 0;
        for (int64_t tile = 0; tile < tiles; tile++) {
            sum += t.sums[tile * t.n_experts + expert];
            count += t.counts[tile * t.n_experts + expert];
        }
        const float mean = sum / tokens, counted = strays ? not_a_number() : static_cast<float>(count);
        f_counts[expert] = counted;
        p_means[expert] = mean;
        total += counted / tokens * mean;
    }
    total = team_sum<THREADS>(total);
    if (threadIdx.x == 0) aux_loss[0] = alpha * static_cast<float>(t.n_experts) * total;
}

/* Every token's row is the same; factor is taken in double, as batch_seq^2 may be no float. */
__global__ void __launch_bounds__(THREADS)
    aux_loss_backward_kernel(const float* f_counts, float* d_router_probs, int64_t n, int n_experts, float factor) {
    for (int64_t i = blockIdx.x * int64_t{THREADS} + threadIdx.x; i < n; i += gridDim.x * int64_t{THREADS})
        d_router_probs[i] = factor * f_counts[i % n_experts];
}

} // namespace

int64_t aux_loss_memory(int64_t batch_seq, int n_experts) {
    return ceil_div(batch_seq, TOKENS) * (2 * int64_t{n_experts} + 1) * static_cast<int64_t>(sizeof(float));
}

int32_t aux_loss_in(void* memory, const float* router_probs, const int* expert_indices, float* aux_loss,
                    float* f_counts, float* p_means, int batch_seq, int n_experts, int top_k, float alpha,
                    void* stream) {
    const int64_t tiles = ceil_div(batch_seq, TOKENS);
    float* const sums = static_cast<float*>(memory);
    int* const counts = static_cast<int*>(memory) + tiles * n_experts;
    const Tiles t = {router_probs, expert_indices, sums, counts, counts + tiles * n_experts,
                     batch_seq,    n_experts,      top_k};
    tile_kernel<<<blocks_for(tiles * ceil_div(n_experts, WARP), 1), WARPS * WARP, 0, stream_of(stream)>>>(t);
    aux_loss_kernel<<<1, THREADS, 0, stream_of(stream)>>>(t, static_cast<int>(tiles), aux_loss, f_counts, p_means,
                                                          alpha);
    return launched();
}

int32_t cuda_aux_loss_forward(const float* router_probs, const int* expert_indices, float* aux_loss, float* f_counts,
                              float* p_means, int batch_seq, int n_experts, int top_k, float alpha, void* stream) {
    CHECK_ARRAY(router_probs, batch_seq, n_experts);
    CHECK_ARRAY(expert_indices, batch_seq, top_k);
    CHECK_ARRAY(aux_loss, 1);
    CHECK_ARRAY(f_counts, n_experts);
    CHECK_ARRAY(p_means, n_experts);
    CHECK(top_k <= n_experts);
    const Scratch scratch(aux_loss_memory(batch_seq, n_experts), stream_of(stream));
    TRY(scratch.code());
    return aux_loss_in(scratch.as<void>(), router_probs, expert_indices, aux_loss, f_counts, p_means, batch_seq,
                       n_experts, top_k, alpha, stream);
}

int32_t cuda_aux_loss_backward(const float* f_counts, float* d_router_probs, int batch_seq, int n_experts, float alpha,
                               float scale, void* stream) {
    CHECK_ARRAY(f_counts, n_experts);
    CHECK_ARRAY(d_router_probs, batch_seq, n_experts);
    const double factor = static_cast<double>(scale) * alpha * n_experts / (static_cast<double>(batch_seq) * batch_seq);
    const int64_t n = int64_t{batch_seq} * n_experts;
    aux_loss_backward_kernel<<<blocks_for(n, THREADS), THREADS, 0, stream_of(stream)>>>(
        f_counts, d_router_probs, n, n_experts, static_cast<float>(factor));
    return launched();
}
