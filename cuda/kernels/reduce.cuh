/* Sums, maxima and other folds over the threads of a team: a warp, or a whole block.  Every thread gets the result, and
 * its bits depend on nothing but the values. */
#ifndef ASSAYER_REDUCE_CUH
#define ASSAYER_REDUCE_CUH

#include <cstdint>
#include <cuda_runtime.h>

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

__device__ inline int lane_of_thread() { return threadIdx.x % WARP; }

struct Sum {
    template <typename T> __device__ T operator()(const T& a, const T& b) const { return a + b; }
};

/* A NaN is passed over. */
struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
    template <typename T> __device__ T operator()(const T& a, const T& b) const { return a > b ? a : b; }
};

struct Min {
    template <typename T> __device__ T operator()(const T& a, const T& b) const { return a < b ? a : b; }
};

/* The value of the lane whose number differs by mask; a type of several parts brings an overload of its own. */
template <typename T> __device__ T exchange(const T& value, int mask) {
    return __shfl_xor_sync(ALL_LANES, value, mask);
}

/* Over the LANES neighbours of each lane, a power of two. */
template <int LANES = WARP, typename T, typename Fold> __device__ T warp_fold(T value, Fold fold) {
#pragma unroll
    for (int mask = LANES / 2; mask > 0; mask /= 2) value = fold(value, exchange(value, mask));
    return value;
}

/* Over THREADS threads, of which a block has as many, or over the warp where THREADS is that of a warp.  A block meets
 * twice: before the warps' results are read, and before their places are used again. */
template <int THREADS, typename T, typename Fold> __device__ T team_fold(T value, Fold fold) {
    static_assert(THREADS % WARP == 0 && THREADS / WARP <= WARP, "whole warps");
    constexpr int WARPS = THREADS / WARP;
    static_assert((WARPS & (WARPS - 1)) == 0, "a power of two");
    value = warp_fold(value, fold);
    if constexpr (WARPS > 1) {
        __shared__ T of_warp[WARPS];
        if (lane_of_thread() == 0) of_warp[threadIdx.x / WARP] = value;
        __syncthreads();
        value = warp_fold<WARPS>(of_warp[lane_of_thread() % WARPS], fold);
        __syncthreads();
    }
    return value;
}

template <int THREADS, typename T> __device__ T team_sum(T value) { return team_fold<THREADS>(value, Sum{}); }
template <int THREADS, typename T> __device__ T team_max(T value) { return team_fold<THREADS>(value, Max{}); }

#endif
