// Kernels that are right, by the means that kernels use: nothing may be reported about them, in any mode and order.
#include "harness.h"

constexpr unsigned ALL = 0xffffffffu;

// Shuffles within warps, shared memory between them.
template <int THREADS>
__global__ void block_sum_kernel(const float* input, float* output, int n) {
    __shared__ float of_warp[THREADS / 32];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += THREADS) sum += input[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(ALL, sum, distance);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < THREADS / 32; warp++) sum += of_warp[warp];
        *output = sum;
    }
}
PROGRAM(block_sum) {
    Array<float> input(counting<float>(1000)), output(1);
    block_sum_kernel<256><<<1, 256>>>(input, output, 1000);
    return output.value() == 999 * 1000 / 2;
}

// A device function with shared memory of its own, called twice with the barriers that takes.
__device__ float shared_sum(float value) {
    __shared__ float of_warp[8];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(ALL, value, distance);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[threadIdx.x % 8];
    for (int distance = 4; distance > 0; distance /= 2) value += __shfl_xor_sync(ALL, value, distance);
    __syncthreads();
    return value;
}
__global__ void sums_kernel(const float* input, float* output) {
    const float first = shared_sum(input[threadIdx.x]);
    output[blockIdx.x * 256 + threadIdx.x] = first + shared_sum(2 * input[threadIdx.x]);
}
PROGRAM(shared_array_reused_with_barriers) {
    Array<float> input(counting<float>(256)), output(3 * 256);
    sums_kernel<<<3, 256>>>(input, output);
    for (const float sum : output.values()) {
        if (sum != 3 * 255 * 256 / 2) return false;
    }
    return true;
}

// Lanes of one warp exchange through shared memory, with __syncwarp between reading and writing.
__global__ void warp_synchronous_kernel(const float* input, float* output) {
    __shared__ float values[32];
    const unsigned lane = threadIdx.x;
    values[lane] = input[lane];
    __syncwarp();
    for (unsigned half = 16; half > 0; half /= 2) {
        const float sum = lane < half ? values[lane] + values[lane + half] : 0;
        __syncwarp();
        if (lane < half) values[lane] = sum;
        __syncwarp();
    }
    if (lane == 0) *output = values[0];
}
PROGRAM(warp_synchronous_sum) {
    Array<float> input(counting<float>(32)), output(1);
    warp_synchronous_kernel<<<1, 32>>>(input, output);
    return output.value() == 31 * 32 / 2;
}

// A tile turned over, in blocks of two axes, at a size that is no multiple of the tile.
__global__ void transpose_kernel(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[32][33];
    const int col = blockIdx.x * 32 + threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += blockDim.y) {
        const int row = blockIdx.y * 32 + i;
        if (row < rows && col < cols) tile[i][threadIdx.x] = input[row * cols + col];
    }
    __syncthreads();
    const int out_col = blockIdx.y * 32 + threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += blockDim.y) {
        const int out_row = blockIdx.x * 32 + i;
        if (out_row < cols && out_col < rows) output[out_row * rows + out_col] = tile[threadIdx.x][i];
    }
}
PROGRAM(transpose) {
    constexpr int rows = 70, cols = 45;
    Array<float> input(counting<float>(rows * cols)), output(rows * cols);
    transpose_kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(input, output, rows, cols);
    const auto result = output.values();
    for (int row = 0; row < rows; row++) {
        for (int col = 0; col < cols; col++) {
            if (result[col * rows + row] != static_cast<float>(row * cols + col)) return false;
        }
    }
    return true;
}

// Threads that have returned are counted out of barriers and of masks that name them.
__global__ void early_return_kernel(const float* input, float* output, unsigned n) {
    extern __shared__ float values[];
    if (threadIdx.x >= n) return;
    values[threadIdx.x] = input[threadIdx.x];
    __syncthreads();
    float value = values[n - 1 - threadIdx.x];
    value += __shfl_sync(ALL, value, 0);
    output[threadIdx.x] = value;
}
PROGRAM(early_return) {
    constexpr unsigned n = 75;
    Array<float> input(counting<float>(n)), output(n);
    early_return_kernel<<<1, 128, n * sizeof(float)>>>(input, output, n);
    const auto result = output.values();
    for (unsigned i = 0; i < n; i++) {
        if (result[i] != static_cast<float>(n - 1 - i) + static_cast<float>(n - 1 - i / 32 * 32)) return false;
    }
    return true;
}

// The last block adds up what the others have written before a fence.
__device__ unsigned finished_blocks;
__global__ void last_block_kernel(const float* input, float* partial, float* total) {
    __shared__ bool last;
    const float sum = shared_sum(input[blockIdx.x * 256 + threadIdx.x]);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    const float all = shared_sum(threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0);
    if (threadIdx.x == 0) *total = all;
}
PROGRAM(last_block_adds_up) {
    Array<float> input(20 * 256, 1.0f), partial(20), total(1);
    for (int turn = 0; turn < 2; turn++) {
        last_block_kernel<<<20, 256>>>(input, partial, total);
        if (total.value() != 20 * 256) return false;
    }
    return true;
}

// Counts in shared memory, then in global memory, by atomics.
__global__ void histogram_kernel(const int* input, int* counts, int n) {
    __shared__ int mine[16];
    if (threadIdx.x < 16) mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[input[i] % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
PROGRAM(histogram) {
    Array<int> input(counting<int>(5000)), counts(16);
    histogram_kernel<<<7, 96>>>(input, counts, 5000);
    const auto result = counts.values();
    for (int i = 0; i < 16; i++) {
        if (result[i] != 5000 / 16 + (i < 5000 % 16)) return false;
    }
    return true;
}

// Groups of four lanes that go different ways and meet among themselves.
__global__ void subgroups_kernel(unsigned* output) {
    const unsigned lane = threadIdx.x % 32, group = lane / 4, mask = 0xfu << group * 4;
    unsigned value = lane;
    for (unsigned turn = 0; turn <= group; turn++) {
        value = __shfl_sync(mask, value, static_cast<int>((lane + 1) % 4), 4);
        __syncwarp(mask);
    }
    output[threadIdx.x] = value;
}
PROGRAM(subgroups) {
    Array<unsigned> output(64);
    subgroups_kernel<<<1, 64>>>(output);
    const auto result = output.values();
    for (unsigned i = 0; i < 64; i++) {
        const unsigned lane = i % 32, group = lane / 4;
        if (result[i] != group * 4 + (lane + group + 1) % 4) return false;
    }
    return true;
}

// A lane first meets one neighbour, then the other: masks that overlap.
__global__ void chain_kernel(int* output) {
    const unsigned lane = threadIdx.x;
    int value = static_cast<int>(lane);
    for (unsigned pair = 0; pair < 31; pair++) {
        if (lane == pair || lane == pair + 1) value = __shfl_sync(3u << pair, value, static_cast<int>(pair));
    }
    output[lane] = value;
}
PROGRAM(overlapping_masks) {
    Array<int> output(32, -1);
    chain_kernel<<<1, 32>>>(output);
    for (const int value : output.values()) {
        if (value != 0) return false;
    }
    return true;
}

__global__ void votes_kernel(unsigned* output) {
    const unsigned lane = threadIdx.x;
    unsigned* const mine = output + lane * 10;
    int all_equal = -1;
    mine[0] = __ballot_sync(ALL, lane % 3 == 0);
    mine[1] = static_cast<unsigned>(__any_sync(ALL, lane == 7)) * 2 + static_cast<unsigned>(__all_sync(ALL, lane < 31));
    mine[2] = __match_any_sync(ALL, lane % 4);
    mine[3] = __match_all_sync(ALL, lane / 32, &all_equal) + static_cast<unsigned>(all_equal);
    mine[4] = __reduce_add_sync(ALL, lane);
    mine[5] = __reduce_max_sync(ALL, lane) + 100 * __reduce_min_sync(ALL, lane + 1);
    mine[6] = __reduce_or_sync(ALL, 1u << lane) ^ __reduce_and_sync(ALL, ~lane) ^ __reduce_xor_sync(ALL, lane);
    mine[7] = __shfl_up_sync(ALL, lane, 3) + 100 * __shfl_down_sync(ALL, lane, 3, 8);
    mine[8] = __shfl_xor_sync(ALL, lane, 24, 16);
    mine[9] = __shfl_sync(ALL, lane, -1, 8);
}
PROGRAM(votes) {
    Array<unsigned> output(320);
    votes_kernel<<<1, 32>>>(output);
    const auto result = output.values();
    for (unsigned lane = 0; lane < 32; lane++) {
        const unsigned up = lane < 3 ? lane : lane - 3, down = lane % 8 + 3 >= 8 ? lane : lane + 3;
        const unsigned across = (lane ^ 24) >= lane / 16 * 16 + 16 ? lane : lane ^ 24;
        const unsigned expected[10] = {0x49249249u, 2, 0x11111111u << lane % 4, 0u, 496, 131, ALL ^ (ALL << 5) ^ 0, up + 100 * down, across, lane / 8 * 8 + 7};
        for (unsigned i = 0; i < 10; i++) {
            if (result[lane * 10 + i] != expected[i] && i != 3) return false;
            if (i == 3 && result[lane * 10 + 3] != ALL + 1) return false;
        }
    }
    return true;
}

// Barriers that count.
__global__ void counting_barriers_kernel(int* output) {
    const int odd = __syncthreads_count(threadIdx.x % 2), all = __syncthreads_and(threadIdx.x < 100), any = __syncthreads_or(threadIdx.x == 99);
    output[threadIdx.x] = odd * 100 + (all != 0) * 10 + (any != 0);
}
PROGRAM(counting_barriers) {
    Array<int> output(100);
    counting_barriers_kernel<<<1, 100>>>(output);
    for (const int value : output.values()) {
        if (value != 5011) return false;
    }
    return true;
}

// Two buffers, so that one barrier a turn is enough.
__global__ void two_buffers_kernel(const float* input, float* output, int turns) {
    __shared__ float buffer[2][64];
    float sum = 0;
    for (int turn = 0; turn < turns; turn++) {
        buffer[turn % 2][threadIdx.x] = input[turn * 64 + threadIdx.x];
        __syncthreads();
        sum += buffer[turn % 2][63 - threadIdx.x];
    }
    output[threadIdx.x] = sum;
}
PROGRAM(two_buffers) {
    Array<float> input(counting<float>(64 * 10)), output(64);
    two_buffers_kernel<<<1, 64>>>(input, output, 10);
    const auto result = output.values();
    for (int i = 0; i < 64; i++) {
        if (result[i] != static_cast<float>(10 * (63 - i) + 64 * 45)) return false;
    }
    return true;
}

// A lock that every thread takes in turn.
__global__ void lock_kernel(int* lock, int* count) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *count += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
PROGRAM(lock_taken_in_turn) {
    Array<int> lock(1), count(1);
    lock_kernel<<<3, 40>>>(lock, count);
    return count.value() == 120;
}

// Dynamic shared memory above 48 KiB, after opting in, in pieces of 16 bytes.
__global__ void big_shared_kernel(float* output, int n) {
    extern __shared__ __align__(16) unsigned char bytes[];
    auto* const fours = reinterpret_cast<float4*>(bytes);
    for (int i = threadIdx.x; i < n; i += blockDim.x) fours[i] = make_float4(static_cast<float>(i), 1, 2, 3);
    __syncthreads();
    if (threadIdx.x == 0) *output = fours[n - 1].x + fours[0].w;
}
PROGRAM(opted_in_shared_memory) {
    constexpr int bytes = 64 << 10, n = bytes / 16;
    Array<float> output(1);
    if (cudaFuncSetAttribute(big_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess) return false;
    big_shared_kernel<<<1, 128, bytes>>>(output, n);
    return output.value() == n - 1 + 3;
}

// The address of every thread and block of three axes.
__global__ void axes_kernel(int* output) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    output[block * blockDim.x * blockDim.y * blockDim.z + thread] += static_cast<int>(block * 1000 + thread);
}
PROGRAM(three_axes) {
    Array<int> output(2 * 3 * 4 * 5 * 6 * 7);
    axes_kernel<<<dim3(2, 3, 4), dim3(5, 6, 7)>>>(output);
    const auto result = output.values();
    for (size_t i = 0; i < result.size(); i++) {
        if (result[i] != static_cast<int>(i / 210 * 1000 + i % 210)) return false;
    }
    return true;
}
