// Calls that CUDA refuses, and with which error.
#include "harness.h"

__global__ void fill_kernel(float* output) { output[threadIdx.x] = 1; }

static bool refused(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, cudaError_t expected) {
    Array<float> output(4096);
    fill_kernel<<<grid, block, shared, stream>>>(output);
    const cudaError_t error = cudaGetLastError();
    return error == expected && output.value() == 0 && cudaGetLastError() == cudaSuccess;
}
PROGRAM(too_many_threads) { return refused(1, 1025, 0, nullptr, cudaErrorInvalidConfiguration); }
PROGRAM(too_many_threads_of_three_axes) { return refused(1, dim3(32, 8, 8), 0, nullptr, cudaErrorInvalidConfiguration); }
PROGRAM(too_deep_a_block) { return refused(1, dim3(1, 1, 65), 0, nullptr, cudaErrorInvalidConfiguration); }
PROGRAM(no_threads) { return refused(1, 0, 0, nullptr, cudaErrorInvalidConfiguration); }
PROGRAM(no_blocks) { return refused(0, 32, 0, nullptr, cudaErrorInvalidConfiguration); }
PROGRAM(too_high_a_grid) { return refused(dim3(1, 65536), 32, 0, nullptr, cudaErrorInvalidConfiguration); }
PROGRAM(too_much_shared_memory) { return refused(1, 32, (48 << 10) + 1, nullptr, cudaErrorInvalidValue); }

PROGRAM(too_many_threads_by_call) {
    Array<float> output(32);
    float* given = output;
    void* arguments[] = {&given};
    const bool right = cudaLaunchKernel(fill_kernel, dim3(1), dim3(2048), arguments, 0, nullptr) == cudaErrorInvalidConfiguration;
    return right && cudaGetLastError() == cudaErrorInvalidConfiguration && output.value() == 0;
}

PROGRAM(more_shared_memory_than_there_is) {
    int most = 0;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    return cudaFuncSetAttribute(fill_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most) == cudaSuccess &&
           cudaFuncSetAttribute(fill_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1) == cudaErrorInvalidValue &&
           cudaGetLastError() == cudaErrorInvalidValue;
}

PROGRAM(errors_are_taken_away_once) {
    if (cudaSetDevice(1) != cudaErrorInvalidDevice) return false;
    return cudaPeekAtLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess;
}

PROGRAM(copies_past_an_end) {
    Array<float> a(16), b(8);
    bool right = cudaMemcpy(a, b, 8 * sizeof(float), cudaMemcpyDeviceToDevice) == cudaSuccess;
    right = right && cudaMemcpy(a, b, 9 * sizeof(float), cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue;
    right = right && cudaMemcpy(b + 4, a, 5 * sizeof(float), cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue;
    right = right && cudaMemset(b, 0, 9 * sizeof(float)) == cudaErrorInvalidValue;
    right = right && cudaMemcpy(nullptr, a, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue;
    cudaGetLastError();
    return right;
}

PROGRAM(copies_the_other_way) {
    Array<float> device(4);
    float host[4] = {};
    bool right = cudaMemcpy(device, host, 16, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue;
    right = right && cudaMemcpy(host, device, 16, cudaMemcpyHostToDevice) == cudaErrorInvalidValue;
    right = right && cudaMemcpy(host, device, 16, static_cast<cudaMemcpyKind>(7)) == cudaErrorInvalidMemcpyDirection;
    right = right && cudaMemcpy(host, device, 16, cudaMemcpyDefault) == cudaSuccess;
    cudaGetLastError();
    return right;
}

PROGRAM(frees_by_the_wrong_call) {
    int *pinned = nullptr, *device = nullptr;
    bool right = cudaMallocHost(&pinned, 64) == cudaSuccess && cudaFree(pinned) == cudaErrorInvalidValue && cudaFreeHost(pinned) == cudaSuccess;
    right = right && cudaMalloc(&device, 64) == cudaSuccess && cudaFreeHost(device) == cudaErrorInvalidValue && cudaFree(device) == cudaSuccess;
    cudaGetLastError();
    return right;
}

PROGRAM(frees_what_was_not_allocated) {
    float* memory = nullptr;
    bool right = cudaMalloc(&memory, 64) == cudaSuccess && cudaFree(memory + 1) == cudaErrorInvalidValue;
    right = right && cudaFree(memory) == cudaSuccess && cudaFree(memory) == cudaErrorInvalidValue && cudaFree(nullptr) == cudaSuccess;
    cudaGetLastError();
    return right;
}

PROGRAM(asks_for_all_the_memory_of_the_world) {
    void* memory = nullptr;
    const bool right = cudaMalloc(&memory, size_t{1} << 60) == cudaErrorMemoryAllocation && !memory;
    cudaGetLastError();
    return right;
}

PROGRAM(streams_and_events) {
    Array<float> output(64);
    cudaStream_t stream;
    cudaEvent_t start, end;
    float milliseconds = -1;
    bool right = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess;
    right = right && cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess;
    right = right && cudaEventElapsedTime(&milliseconds, start, end) == cudaErrorInvalidResourceHandle;  // not recorded
    right = right && cudaEventRecord(start, stream) == cudaSuccess;
    fill_kernel<<<1, 64, 0, stream>>>(output);
    right = right && cudaEventRecord(end, stream) == cudaSuccess && cudaStreamWaitEvent(nullptr, end, 0) == cudaSuccess;
    right = right && cudaEventSynchronize(end) == cudaSuccess && cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess;
    right = right && milliseconds >= 0 && output.value() == 1 && cudaStreamSynchronize(stream) == cudaSuccess;
    right = right && cudaEventDestroy(start) == cudaSuccess && cudaEventDestroy(end) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess;
    cudaGetLastError();
    return right;
}

#if defined(ASSAYER_EMULATED)  // a device may end the process instead
PROGRAM(stream_that_is_none) {
    char nothing;
    return refused(1, 32, 0, reinterpret_cast<cudaStream_t>(&nothing), cudaErrorInvalidResourceHandle);
}

PROGRAM(cooperative_launch) {
    Array<float> output(32);
    float* given = output;
    void* arguments[] = {&given};
    const bool right = cudaLaunchCooperativeKernel(fill_kernel, dim3(2), dim3(16), arguments) == cudaErrorNotSupported;
    return right && cudaGetLastError() == cudaErrorNotSupported && output.value() == 0;
}

// nvcc refuses to compile this.
__global__ void too_much_declared_kernel(float* output) {
    __shared__ float values[12288], more[1];
    values[threadIdx.x] = more[0] = 1;
    output[threadIdx.x] = values[threadIdx.x];
}
PROGRAM(too_much_declared_shared_memory) {
    Array<float> output(32);
    too_much_declared_kernel<<<1, 32>>>(output);
    return cudaGetLastError() == cudaErrorInvalidValue;
}

// Memory that nobody has written reads as NaN.
PROGRAM(fresh_memory_is_nan) {
    float* memory = nullptr;
    float value = 0;
    cudaMalloc(&memory, 4);
    cudaMemcpy(&value, memory, 4, cudaMemcpyDeviceToHost);
    return cudaFree(memory) == cudaSuccess && value != value;
}
#endif
