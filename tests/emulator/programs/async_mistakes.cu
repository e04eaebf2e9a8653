// cp.async used wrongly: each mistake shows in some order, whatever the memory held before.
#include "harness.h"
#include "ptx.cuh"

// A read before the wait.
__global__ void copy_without_wait_kernel(const float* input, float* output) {
    __shared__ __align__(16) float tile[128];
    copy_16(&tile[threadIdx.x * 4], input + threadIdx.x * 4);
    commit_copies();
    output[threadIdx.x] = tile[threadIdx.x * 4];  // MISTAKE copy_without_wait
}
PROGRAM(copy_without_wait) {
    Array<float> input(counting<float>(128)), output(32);
    copy_without_wait_kernel<<<1, 32>>>(input, output);
    return output.values()[31] == 124;
}

// One group more is left under way than may be.
__global__ void copy_with_late_wait_kernel(const float* input, float* output) {
    __shared__ __align__(16) float tile[2][128];
    for (int i = 0; i < 2; i++) {
        copy_16(&tile[i][threadIdx.x * 4], input + threadIdx.x * 4);
        commit_copies();
    }
    wait_for_copies<1>();
    output[threadIdx.x] = tile[1][threadIdx.x * 4];  // MISTAKE copy_with_late_wait
}
PROGRAM(copy_with_late_wait) {
    Array<float> input(counting<float>(128)), output(32);
    copy_with_late_wait_kernel<<<1, 32>>>(input, output);
    return output.values()[31] == 124;
}

// The wait is each thread's own: what others copied is there behind a barrier alone.
__global__ void copy_without_barrier_kernel(const float* input, float* output) {
    __shared__ __align__(16) float tile[256];
    copy_16(&tile[threadIdx.x * 4], input + threadIdx.x * 4);
    commit_copies();
    wait_for_copies<0>();
    output[threadIdx.x] = tile[255 - threadIdx.x];  // MISTAKE copy_without_barrier
}
PROGRAM(copy_without_barrier) {
    Array<float> input(counting<float>(256)), output(64);
    copy_without_barrier_kernel<<<1, 64>>>(input, output);
    const auto values = output.values();
    for (int i = 0; i < 64; i++) {
        if (values[i] != static_cast<float>(255 - i)) return false;
    }
    return true;
}

// A stage is filled again while others still read it.
__global__ void stage_filled_again_kernel(const float* input, float* output) {
    __shared__ __align__(16) float stage[256];
    float sum = 0;
    for (int tile = 0; tile < 3; tile++) {
        copy_16(&stage[threadIdx.x * 4], input + threadIdx.x * 4 + 4 * tile);
        commit_copies();
        wait_for_copies<0>();
        __syncthreads();
        sum += stage[255 - threadIdx.x];  // MISTAKE stage_filled_again
    }
    output[threadIdx.x] = sum;
}
PROGRAM(stage_filled_again) {
    Array<float> input(counting<float>(512)), output(64);
    stage_filled_again_kernel<<<1, 64>>>(input, output);
    const auto values = output.values();
    for (int i = 0; i < 64; i++) {
        if (values[i] != static_cast<float>(3 * (255 - i) + 12)) return false;
    }
    return true;
}
