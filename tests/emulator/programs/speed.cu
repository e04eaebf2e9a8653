// What the emulator costs: `programs speed` prints it.  Not a test.
#include "harness.h"

#include <cmath>
#include <ctime>

__global__ void silu_kernel(const float* input, float* output, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = input[i] / (1 + expf(-input[i]));
}
__global__ void empty_kernel() {}
__global__ void barriers_kernel(int turns) {
    for (int turn = 0; turn < turns; turn++) __syncthreads();
}
__global__ void shuffles_kernel(float* output, int turns) {
    float value = static_cast<float>(threadIdx.x);
    for (int turn = 0; turn < turns; turn++) value += __shfl_xor_sync(0xffffffffu, value, 1);
    output[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
__global__ void syncwarps_kernel(int turns) {
    for (int turn = 0; turn < turns; turn++) __syncwarp();
}
__global__ void block_sums_kernel(const float* input, float* output) {
    __shared__ float of_warp[8];
    float value = input[blockIdx.x * 256 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < 8; warp++) value += of_warp[warp];
        output[blockIdx.x] = value;
    }
}

// Processor time: what else the machine does counts less.
static double nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

// Of the fastest of several runs, for each of `count` things.
template <class Run>
static void report(const char* what, double count, Run run) {
    double best = 1e300;
    for (int repeat = 0; repeat < 9; repeat++) {
        const double start = nanoseconds();
        run();
        cudaDeviceSynchronize();
        best = std::fmin(best, nanoseconds() - start);
    }
    std::printf("%-44s %9.1f ns\n", what, best / count);
}

PROGRAM(speed) {
    constexpr int n = 1 << 20, turns = 200;
    Array<float> input(n, 0.5f), output(n);
    report("a thread that never waits (silu)", n, [&] { silu_kernel<<<n / 256, 256>>>(input, output, n); });
    for (int threads : {32, 256, 1024}) {
        const int blocks = 8192 / threads;
        char what[64];
        std::snprintf(what, sizeof what, "__syncthreads, a thread, %d threads a block", threads);
        report(what, 8192.0 * turns, [&] { barriers_kernel<<<blocks, threads>>>(turns); });
    }
    report("__shfl_xor_sync, a lane", 8192.0 * turns, [&] { shuffles_kernel<<<32, 256>>>(output, turns); });
    report("__syncwarp, a lane", 8192.0 * turns, [&] { syncwarps_kernel<<<32, 256>>>(turns); });
    report("sum of 256 by a block, a block", n / 256, [&] { block_sums_kernel<<<n / 256, 256>>>(input, output); });
    report("a launch of one block of 32", 1, [&] { empty_kernel<<<1, 32>>>(); });
    report("a launch of two blocks of 32", 1, [&] { empty_kernel<<<2, 32>>>(); });
    report("a launch of 64 blocks of 256, a thread", 64 * 256, [&] { empty_kernel<<<64, 256>>>(); });
    return true;
}
