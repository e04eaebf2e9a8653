// cp.async, its groups and waits, and barriers with numbers and counts.
#include "harness.h"
#include "ptx.cuh"

constexpr int TILE = 64, TILES = 7, STAGES = 3;

// Sums of tiles that come in three stages: a buffer is filled again only when all have read it.
__global__ void staged_kernel(const float* input, float* output) {
    __shared__ __align__(16) float stages[STAGES][TILE];
    const auto fetch = [&](int tile) {
        if (tile < TILES && threadIdx.x < TILE / 4) copy_16(&stages[tile % STAGES][threadIdx.x * 4], input + tile * TILE + threadIdx.x * 4);
        commit_copies();
    };
    for (int tile = 0; tile < STAGES - 1; tile++) fetch(tile);
    float sum = 0;
    for (int tile = 0; tile < TILES; tile++) {
        wait_for_copies<STAGES - 2>();
        __syncthreads();
        fetch(tile + STAGES - 1);
        sum += stages[tile % STAGES][(threadIdx.x + 1) % TILE];
    }
    output[threadIdx.x] = sum;
}
PROGRAM(staged_copies) {
    const auto input = counting<float>(TILES * TILE);
    Array<float> on_device(input), output(TILE);
    staged_kernel<<<2, TILE>>>(on_device, output);
    const auto sums = output.values();
    for (int i = 0; i < TILE; i++) {
        float sum = 0;
        for (int tile = 0; tile < TILES; tile++) sum += input[tile * TILE + (i + 1) % TILE];
        if (sums[i] != sum) return false;
    }
    return true;
}

// What the source does not give is zero; it is not read.
__global__ void tail_kernel(const float* input, int count, float* output) {
    __shared__ __align__(16) float tile[128];
    const int first = static_cast<int>(threadIdx.x) * 4, rest = count - first, given = rest < 0 ? 0 : rest > 4 ? 4 : rest;
    copy_16(&tile[first], input + (given ? first : 0), given * 4);
    commit_copies();
    wait_for_copies<0>();
    for (int i = 0; i < 4; i++) output[first + i] = tile[first + i];
}
PROGRAM(copies_with_zeros_behind) {
    constexpr int count = 101;
    Array<float> input(counting<float>(count)), output(128);
    tail_kernel<<<1, 32>>>(input, count, output);
    const auto values = output.values();
    for (int i = 0; i < 128; i++) {
        if (values[i] != (i < count ? static_cast<float>(i) : 0.0f)) return false;
    }
    return true;
}

// Two warps fill, two use: each half of the buffer has a barrier that says it is full and one that says it is empty.
__global__ void warps_with_roles_kernel(const float* input, float* output) {
    __shared__ float halves[2][64];
    const bool fills = threadIdx.x < 64;
    const unsigned lane = threadIdx.x % 64;
    float sum = 0;
    for (int i = 0; i < TILES; i++) {
        const unsigned half = i % 2, full = 1 + half, empty = 3 + half;
        if (fills) {
            if (i >= 2) barrier_sync(empty, 128);
            halves[half][lane] = input[i * 64 + lane];
            barrier_arrive(full, 128);
        } else {
            barrier_sync(full, 128);
            sum += halves[half][63 - lane];
            if (i + 2 < TILES) barrier_arrive(empty, 128);
        }
    }
    if (!fills) output[blockIdx.x * 64 + lane] = sum;
}
PROGRAM(barriers_with_counts) {
    const auto input = counting<float>(TILES * 64);
    Array<float> on_device(input), output(128);
    warps_with_roles_kernel<<<2, 128>>>(on_device, output);
    const auto sums = output.values();
    for (int i = 0; i < 128; i++) {
        float sum = 0;
        for (int tile = 0; tile < TILES; tile++) sum += input[tile * 64 + 63 - i % 64];
        if (sums[i] != sum) return false;
    }
    return true;
}
