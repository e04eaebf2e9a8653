// The runtime's calls around kernels, and kernels in the ways other projects write them.
#include "harness.h"

#include <cuda_fp16.h>

__constant__ float coefficients[3];
__device__ int touched;
__managed__ int on_both_sides = 5;

__global__ void polynomial_kernel(const float* __restrict__ x, float* __restrict__ y, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const float value = __ldg(x + i);
    y[i] = fmaf(fmaf(coefficients[2], value, coefficients[1]), value, coefficients[0]);
    atomicAdd(&touched, 1);
}
PROGRAM(constants_and_variables) {
    const float given[3] = {1, 2, 3};
    const int none = 0;
    int count = 0;
    size_t size = 0;
    void* address = nullptr;
    Array<float> x(counting<float>(100)), y(100);
    bool right = cudaMemcpyToSymbol(coefficients, given, sizeof given) == cudaSuccess && cudaMemcpyToSymbol(touched, &none, sizeof none) == cudaSuccess;
    right = right && cudaMemcpyToSymbol(coefficients, given, sizeof given, 4) == cudaErrorInvalidValue;
    cudaGetLastError();
    polynomial_kernel<<<2, 64>>>(x, y, 100);
    right = right && cudaMemcpyFromSymbol(&count, touched, sizeof count) == cudaSuccess && count == 100 && y.values()[10] == 321;
    right = right && cudaGetSymbolSize(&size, coefficients) == cudaSuccess && size == 12;
    right = right && cudaGetSymbolAddress(&address, coefficients) == cudaSuccess && address;
    return right;
}

__global__ void count_kernel() { atomicAdd(&on_both_sides, 1); }
PROGRAM(managed_memory) {
    int* memory = nullptr;
    bool right = cudaMallocManaged(&memory, 4) == cudaSuccess;
    on_both_sides = 7;
    count_kernel<<<2, 32>>>();
    right = right && cudaDeviceSynchronize() == cudaSuccess && on_both_sides == 71;
    cudaPointerAttributes attributes;
    right = right && cudaPointerGetAttributes(&attributes, memory) == cudaSuccess && attributes.type == cudaMemoryTypeManaged;
    return right && cudaFree(memory) == cudaSuccess;
}

struct Options {
    float* y;
    int n;
    float factor;
};
__global__ void __launch_bounds__(128, 2) scale_kernel(const Options options, float* more) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < options.n) options.y[i] = more[i] = options.factor;
}
PROGRAM(launches_by_call) {
    Array<float> y(100), more(100);
    Options options{y, 100, 3};
    float* second = more;
    void* arguments[] = {&options, &second};
    const dim3 gridDim(2), blockDim(64);  // names that CUDA predefines in kernels only
    return cudaLaunchKernel(scale_kernel, gridDim, blockDim, arguments, 0, nullptr) == cudaSuccess && more.values()[99] == 3;
}

template <class Function>
__global__ void each_kernel(int n, Function function) {
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += static_cast<int>(gridDim.x * blockDim.x)) function(i);
}
PROGRAM(lambda_of_the_device) {
    Array<float> y(1000);
    float* const out = y;
    each_kernel<<<3, 64>>>(1000, [=] __device__(int i) { out[i] = static_cast<float>(2 * i); });
    return y.values()[999] == 1998;
}

PROGRAM(occupancy) {
    int grid = 0, block = 0, blocks = 0;
    bool right = cudaOccupancyMaxPotentialBlockSize(&grid, &block, polynomial_kernel, 0, 0) == cudaSuccess && grid > 0 && block % 32 == 0 && block <= 1024;
    right = right && cudaOccupancyMaxPotentialBlockSize(&grid, &block, polynomial_kernel, 0, 64) == cudaSuccess && block == 64;
    return right && cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, polynomial_kernel, 1024, 40 << 10) == cudaSuccess && blocks >= 1;
}

PROGRAM(properties) {
    cudaDeviceProp all;
    int value = 0;
    bool right = cudaGetDeviceProperties(&all, 0) == cudaSuccess && all.warpSize == 32 && all.maxThreadsPerBlock == 1024 && all.totalConstMem == 65536;
    right = right && cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess && value == all.multiProcessorCount;
    right = right && cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess && value == all.major;
    return right && all.sharedMemPerBlock == 49152 && all.sharedMemPerBlockOptin > 49152 && all.maxGridSize[1] == 65535 && all.maxThreadsDim[2] == 64;
}

PROGRAM(rows_with_a_pitch) {
    char *memory = nullptr, read[3][10] = {};
    size_t pitch = 0;
    bool right = cudaMallocPitch(&memory, &pitch, 10, 3) == cudaSuccess && pitch >= 10 && cudaMemset2D(memory, pitch, 7, 9, 3) == cudaSuccess;
    right = right && cudaMemcpy2D(read, 10, memory, pitch, 9, 3, cudaMemcpyDeviceToHost) == cudaSuccess;
    right = right && read[2][8] == 7 && read[2][9] == 0 && cudaMemset2D(memory, pitch, 7, pitch + 1, 3) == cudaErrorInvalidValue;
    cudaGetLastError();
    return right && cudaFree(memory) == cudaSuccess;
}

PROGRAM(the_host_in_a_stream) {
    cudaStream_t stream;
    int least = 0, greatest = 0, called = 0, *pinned = nullptr;
    bool right = cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess && greatest <= least;
    right = right && cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest) == cudaSuccess;
    right = right && cudaHostAlloc(&pinned, 4, cudaHostAllocDefault) == cudaSuccess;
    *pinned = 4;
    Array<int> on_device(1);
    right = right && cudaMemcpyAsync(on_device, pinned, 4, cudaMemcpyHostToDevice, stream) == cudaSuccess;
    right = right && cudaLaunchHostFunc(stream, [](void* flag) { *static_cast<int*>(flag) = 1; }, &called) == cudaSuccess;
    right = right && cudaStreamSynchronize(stream) == cudaSuccess && called == 1 && on_device.value() == 4;
    return right && cudaFreeHost(pinned) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess;
}

__global__ void add_kernel(int* to, const int* from, int more) { *to += *from + more; }
PROGRAM(a_captured_graph) {
    Array<int> sum(1, 5), one(1, 1);
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t instance = nullptr;
    int *between = nullptr, more = 10;
    bool right = cudaStreamCreate(&stream) == cudaSuccess && cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess;
    right = right && cudaMallocAsync(&between, 4, stream) == cudaSuccess && cudaMemsetAsync(between, 0, 4, stream) == cudaSuccess;
    add_kernel<<<1, 1, 0, stream>>>(between, one, more);  // the graph keeps the 10
    more = 100;
    add_kernel<<<1, 1, 0, stream>>>(sum, between, 0);
    right = right && cudaFreeAsync(between, stream) == cudaSuccess && sum.value() == 5;
    right = right && cudaStreamEndCapture(stream, &graph) == cudaSuccess && cudaGraphInstantiate(&instance, graph, 0) == cudaSuccess;
    right = right && cudaGraphDestroy(graph) == cudaSuccess && cudaGraphLaunch(instance, stream) == cudaSuccess && sum.value() == 16;
    const int two = 2;
    right = right && cudaMemcpy(one, &two, 4, cudaMemcpyHostToDevice) == cudaSuccess;
    right = right && cudaGraphLaunch(instance, nullptr) == cudaSuccess && sum.value() == 28;
    right = right && cudaGraphExecDestroy(instance) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess;
    right = right && cudaGraphLaunch(instance, nullptr) == cudaErrorInvalidValue;
    cudaGetLastError();
    return right;
}

PROGRAM(captures_that_cannot_be) {
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    cudaEvent_t event;
    cudaStreamCaptureStatus status;
    const auto relaxed = cudaStreamCaptureModeRelaxed;
    bool right = cudaStreamCreate(&stream) == cudaSuccess && cudaStreamBeginCapture(nullptr, relaxed) == cudaErrorStreamCaptureUnsupported;
    right = right && cudaEventCreate(&event) == cudaSuccess && cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState;
    right = right && cudaStreamBeginCapture(stream, relaxed) == cudaSuccess && cudaStreamBeginCapture(stream, relaxed) == cudaErrorIllegalState;
    right = right && cudaEventRecord(event, stream) == cudaErrorNotSupported;
    right = right && cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusActive;
    right = right && cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported;
    right = right && cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusInvalidated;
    right = right && cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated && !graph;
    right = right && cudaStreamBeginCapture(stream, relaxed) == cudaSuccess && cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported;
    right = right && cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated && cudaStreamSynchronize(stream) == cudaSuccess;
    cudaGetLastError();
    return right && cudaEventDestroy(event) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess;
}

__global__ void wide_atomics_kernel(double* sum, unsigned long long* wide, __half2* pair, int* least) {
    atomicAdd(sum, 0.5);
    atomicAdd(wide, 1ull << 33);
    atomicMax(wide + 1, static_cast<unsigned long long>(threadIdx.x));
    atomicCAS(wide + 2, 0ull, 7ull);
    atomicAdd(pair, __floats2half2_rn(1.0f, 2.0f));
    atomicMin(least, static_cast<int>(threadIdx.x) - 40);
    atomicAnd(least + 1, ~(1 << threadIdx.x % 4));
    atomicOr(least + 2, 1 << threadIdx.x % 4);
}
PROGRAM(wide_atomics) {
    Array<double> sum(1);
    Array<unsigned long long> wide(3);
    Array<__half2> pair(1, __floats2half2_rn(0.0f, 0.0f));
    Array<int> least(3, 15);
    wide_atomics_kernel<<<2, 64>>>(sum, wide, pair, least);
    const auto w = wide.values();
    const auto l = least.values();
    return sum.value() == 64 && w[0] == 128ull << 33 && w[1] == 63 && w[2] == 7 && __low2float(pair.value()) == 128 &&
           __high2float(pair.value()) == 256 && l[0] == -40 && l[1] == 0 && l[2] == 15;
}

// A thread that waits for another one's flag, and has a look at the clock meanwhile.
__global__ void patient_kernel(int* flag, long long* ticks) {
    const long long begin = clock64();
    if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0) __nanosleep(100);
        *ticks = clock64() - begin;
    } else {
        atomicExch(flag, 1);
    }
}
PROGRAM(waiting_for_a_flag) {
    Array<int> flag(1);
    Array<long long> ticks(1);
    patient_kernel<<<1, 64>>>(flag, ticks);
    return ticks.value() > 0;
}

__global__ void printing_kernel(int value) {
    if (threadIdx.x == 1) printf("printed by block %u: %d\n", blockIdx.x, value);
}
PROGRAM(prints) {
    printing_kernel<<<2, 32>>>(3);
    return cudaDeviceSynchronize() == cudaSuccess;
}
