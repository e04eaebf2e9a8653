/* Sums over rows in two steps: a team of threads sums the rows that it takes into a row of its own, and these rows are
 * summed here.  The teams are as many whatever the device. */
#ifndef ASSAYER_PARTIALS_CUH
#define ASSAYER_PARTIALS_CUH

#include "launch.cuh"
#include "reduce.cuh"

constexpr int TEAMS_AT_MOST = 512;

/* gradient = beta * gradient + the sum of the teams' rows: a column to a lane, the rows dealt out to the warps. */
template <int WARPS>
__global__ void __launch_bounds__(WARP* WARPS)
    sum_partials_kernel(const float* partials, float* gradient, int teams, int cols, float beta) {
    __shared__ float sums[WARPS][WARP];
    const int warp = threadIdx.x / WARP;
    const int64_t column = blockIdx.x * int64_t{WARP} + lane_of_thread();
    float sum = 0.0f;
    if (column < cols)
        for (int team = warp; team < teams; team += WARPS) sum += partials[int64_t{team} * cols + column];
    sums[warp][lane_of_thread()] = sum;
    __syncthreads();
    if (warp > 0 || column >= cols) return;
    for (int other = 1; other < WARPS; other++) sum += sums[other][lane_of_thread()];
    gradient[column] = beta == 0.0f ? sum : beta * gradient[column] + sum;
}

inline int32_t sum_partials(const float* partials, float* gradient, int teams, int cols, float beta, void* stream) {
    constexpr int WARPS = 8;
    sum_partials_kernel<WARPS>
        <<<blocks_for(cols, WARP), WARP * WARPS, 0, stream_of(stream)>>>(partials, gradient, teams, cols, beta);
    return launched();
}

#endif
