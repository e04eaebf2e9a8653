// Kernels that depend on an order nobody promised.  "// RACE" marks the lines that a race detector has to name.
#include "harness.h"

#include <cooperative_groups.h>

// The barrier between writing and reading is missing.
__global__ void reverse_kernel(const float* input, float* output) {
    __shared__ float values[256];
    values[threadIdx.x] = input[threadIdx.x];         // RACE missing_syncthreads
    output[threadIdx.x] = values[255 - threadIdx.x];  // RACE missing_syncthreads
}
PROGRAM(missing_syncthreads) {
    Array<float> input(counting<float>(256)), output(256);
    reverse_kernel<<<1, 256>>>(input, output);
    const auto result = output.values();
    for (int i = 0; i < 256; i++) {
        if (result[i] != 255 - i) return false;
    }
    return true;
}

// Lanes of a warp do not keep in step since Volta.
__global__ void warp_sum_kernel(const float* input, float* output) {
    __shared__ float values[32];
    const unsigned lane = threadIdx.x;
    values[lane] = input[lane];
    __syncwarp();
    for (unsigned half = 16; half > 0; half /= 2) {
        if (lane < half) values[lane] += values[lane + half];  // RACE missing_syncwarp
    }
    __syncwarp();
    if (lane == 0) *output = values[0];
}
PROGRAM(missing_syncwarp) {
    Array<float> input(counting<float>(32)), output(1);
    warp_sum_kernel<<<1, 32>>>(input, output);
    return output.value() == 31 * 32 / 2;
}

// The second call writes the warps' sums while other warps still read those of the first.
__device__ float block_sum(float value) {
    __shared__ float of_warp[8];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;  // RACE shared_array_reused
    __syncthreads();
    value = 0;
    for (int warp = 0; warp < 8; warp++) value += of_warp[warp];
    return value;
}
__global__ void two_sums_kernel(const float* input, float* output) {
    const float value = input[threadIdx.x];
    const float sum = block_sum(value);
    output[threadIdx.x] = sum + block_sum(2 * value);
}
PROGRAM(shared_array_reused) {
    Array<float> input(counting<float>(256)), output(256);
    two_sums_kernel<<<1, 256>>>(input, output);
    for (const float sum : output.values()) {
        if (sum != 3 * 255 * 256 / 2) return false;
    }
    return true;
}

// Blocks add to one number.
__global__ void add_kernel(const float* input, float* total) {
    if (threadIdx.x == 0) *total = *total + input[blockIdx.x];  // RACE add_between_blocks
}
PROGRAM(add_between_blocks) {
    Array<float> input(counting<float>(64)), total(1);
    add_kernel<<<64, 32>>>(input, total);
    return total.value() == 63 * 64 / 2;
}

// Every 16th block shares a number, so neighbours never meet.
__global__ void add_far_kernel(const float* input, float* totals) {
    if (threadIdx.x == 0) totals[blockIdx.x % 16] += input[blockIdx.x];  // RACE add_between_distant_blocks
}
PROGRAM(add_between_distant_blocks) {
    Array<float> input(counting<float>(64)), totals(16);
    add_far_kernel<<<64, 32>>>(input, totals);
    return totals.value() == 0 + 16 + 32 + 48;
}

// Each half of the warp synchronises with itself and then reads what the other half has written.
__global__ void halves_kernel(float* output) {
    __shared__ float values[32];
    const unsigned lane = threadIdx.x;
    values[lane] = static_cast<float>(lane);  // RACE halves_that_do_not_meet
    __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u);
    output[lane] = values[lane ^ 16];         // RACE halves_that_do_not_meet
}
PROGRAM(halves_that_do_not_meet) {
    Array<float> output(32);
    halves_kernel<<<1, 32>>>(output);
    const auto result = output.values();
    for (unsigned lane = 0; lane < 32; lane++) {
        if (result[lane] != static_cast<float>(lane ^ 16)) return false;
    }
    return true;
}

// A tile of 16 lanes synchronises and then reads what the next tile has written.
__global__ void tiles_kernel(float* output) {
    __shared__ float values[64];
    const auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    values[threadIdx.x] = static_cast<float>(threadIdx.x);  // RACE tiles_that_do_not_meet
    tile.sync();
    output[threadIdx.x] = values[(threadIdx.x + 16) % 64];  // RACE tiles_that_do_not_meet
}
PROGRAM(tiles_that_do_not_meet) {
    Array<float> output(64);
    tiles_kernel<<<1, 64>>>(output);
    const auto result = output.values();
    for (unsigned i = 0; i < 64; i++) {
        if (result[i] != static_cast<float>((i + 16) % 64)) return false;
    }
    return true;
}

// The last block adds up what the others have written, but nobody has fenced the writes.
__device__ unsigned blocks_done;
__global__ void unfenced_sum_kernel(float* partial, float* total) {
    partial[blockIdx.x] = static_cast<float>(blockIdx.x);  // RACE missing_threadfence
    if (atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1) {
        float sum = 0;
        for (unsigned block = 0; block < gridDim.x; block++) sum += partial[block];  // RACE missing_threadfence
        *total = sum;
    }
}
PROGRAM(missing_threadfence) {
    Array<float> partial(32), total(1);
    unfenced_sum_kernel<<<32, 1>>>(partial, total);
    return total.value() == 31 * 32 / 2;
}

// The warps' sums are read before all warps have written theirs.
__global__ void early_sum_kernel(const float* input, float* output) {
    __shared__ float of_warp[8];
    float value = input[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;  // RACE read_too_early
    value = of_warp[threadIdx.x % 8];                              // RACE read_too_early
    for (int distance = 4; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    __syncthreads();
    output[threadIdx.x] = value;
}
PROGRAM(read_too_early) {
    Array<float> input(counting<float>(256)), output(256);
    early_sum_kernel<<<1, 256>>>(input, output);
    for (const float sum : output.values()) {
        if (sum != 255 * 256 / 2) return false;
    }
    return true;
}

// The same with a structure that is passed by value as it lies in shared memory: a read that compilers hide from detectors.
struct Pair {
    float most, sum;
};
__device__ Pair merged(Pair mine, int lanes) {
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        const Pair other{__shfl_xor_sync(0xffffffffu, mine.most, distance), __shfl_xor_sync(0xffffffffu, mine.sum, distance)};
        mine = {fmaxf(mine.most, other.most), mine.sum + other.sum};
    }
    return mine;
}
__global__ void early_pair_kernel(const float* input, float* output) {
    __shared__ Pair of_warp[8];
    const Pair mine = merged({input[threadIdx.x], input[threadIdx.x]}, 32);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;     // RACE structure_read_too_early
    const Pair all = merged(of_warp[threadIdx.x % 8], 8);            // RACE structure_read_too_early
    __syncthreads();
    output[threadIdx.x] = all.most + all.sum;
}
PROGRAM(structure_read_too_early) {
    Array<float> input(counting<float>(256)), output(256);
    early_pair_kernel<<<1, 256>>>(input, output);
    for (const float value : output.values()) {
        if (value != 255 + 255 * 256 / 2) return false;
    }
    return true;
}
