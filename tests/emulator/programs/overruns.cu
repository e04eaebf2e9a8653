// Kernels that leave their arrays, or the language.  "// FAULT" marks the line that has to be named.
#include "harness.h"

#include <climits>

__global__ void static_kernel(float* output, unsigned shift) {
    __shared__ float before[32];
    __shared__ float values[64];
    __shared__ float after[32];
    before[threadIdx.x % 32] = after[threadIdx.x % 32] = 0;
    values[threadIdx.x + shift] = 1;  // FAULT static_shared_overrun
    __syncthreads();
    output[threadIdx.x] = values[threadIdx.x] + before[0] + after[0];
}
static bool run_static(unsigned shift) {
    Array<float> output(64);
    static_kernel<<<2, 64>>>(output, shift);
    return output.value() == 1;
}
PROGRAM(static_shared_right) { return run_static(0); }
PROGRAM(static_shared_overrun) { return run_static(1); }
PROGRAM(static_shared_underrun) { return run_static(0u - 64); }

__global__ void dynamic_kernel(float* output, unsigned shift) {
    extern __shared__ float values[];
    values[threadIdx.x + shift] = 1;  // FAULT dynamic_shared_overrun
    __syncthreads();
    output[threadIdx.x] = values[threadIdx.x];
}
static bool run_dynamic(unsigned shift) {
    Array<float> output(64);
    dynamic_kernel<<<2, 64, 64 * sizeof(float)>>>(output, shift);
    return output.value() == 1;
}
PROGRAM(dynamic_shared_right) { return run_dynamic(0); }
PROGRAM(dynamic_shared_overrun) { return run_dynamic(1); }
PROGRAM(dynamic_shared_far_overrun) { return run_dynamic(5000); }

// The same through a pointer, whose bounds only the address sanitiser knows.
__device__ void set(float* value) { *value = 1; }  // FAULT pointer_into_shared_overrun
__global__ void pointer_kernel(float* output, unsigned shift) {
    __shared__ float values[64];
    set(values + threadIdx.x + shift);
    __syncthreads();
    output[threadIdx.x] = values[threadIdx.x];
}
PROGRAM(pointer_into_shared_overrun) {
    Array<float> output(64);
    pointer_kernel<<<1, 64>>>(output, 1);
    return output.value() == 1;
}

// Keeps one block more than there are numbers: the comparison should be <.
__global__ void global_kernel(float* output, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) output[i] = 1;  // FAULT global_overrun
}
PROGRAM(global_overrun) {
    Array<float> output(64);
    global_kernel<<<2, 64>>>(output, 64);
    return output.value() == 1;
}

__global__ void misaligned_kernel(const float* input, float* output, unsigned shift) {
    const float4 four = *reinterpret_cast<const float4*>(input + shift + 4 * threadIdx.x);  // FAULT misaligned_float4
    output[threadIdx.x] = four.x + four.y + four.z + four.w;
}
static bool run_misaligned(unsigned shift) {
    Array<float> input(160, 1.0f), output(32);
    misaligned_kernel<<<1, 32>>>(input, output, shift);
    return output.value() == 4;
}
PROGRAM(aligned_float4) { return run_misaligned(4); }
PROGRAM(misaligned_float4) { return run_misaligned(1); }

__global__ void overflow_kernel(int* output, int factor) {
    output[threadIdx.x] = factor * static_cast<int>(threadIdx.x + 2);  // FAULT signed_overflow
}
PROGRAM(signed_overflow) {
    Array<int> output(32);
    overflow_kernel<<<1, 32>>>(output, INT_MAX / 8);
    return output.value() == INT_MAX / 8 * 2;
}

// A stack array of a thread that has waited in between.
__global__ void local_kernel(float* output, unsigned at) {
    float local[8];
    for (float& value : local) value = static_cast<float>(threadIdx.x);
    __syncthreads();
    output[threadIdx.x] = local[at];  // FAULT local_overrun
}
PROGRAM(local_overrun) {
    Array<float> output(64);
    local_kernel<<<1, 64>>>(output, 8);
    return output.value() == 0;
}

__global__ void uninitialised_kernel(float* output, unsigned written) {
    __shared__ float values[64];
    if (threadIdx.x < written) values[threadIdx.x] = 1;
    __syncthreads();
    output[threadIdx.x] = values[threadIdx.x];
}
PROGRAM(uninitialised_shared_memory) {
    Array<float> output(64);
    uninitialised_kernel<<<1, 64>>>(output, 64);  // leaves ones behind for the next
    uninitialised_kernel<<<1, 64>>>(output, 63);
    const auto result = output.values();
    return result[62] == 1 && result[63] == 1;
}

// What works in a kernel and in a copy alone.
__global__ void touch_kernel(float* memory) { memory[threadIdx.x] += 1; }
PROGRAM(device_memory_read_by_the_host) {
    float* memory = nullptr;
    cudaMalloc(&memory, 32 * sizeof(float));
    cudaMemset(memory, 0, 32 * sizeof(float));
    touch_kernel<<<1, 32>>>(memory);
    float copied = 0;
    cudaMemcpy(&copied, memory, sizeof copied, cudaMemcpyDeviceToHost);
    std::fprintf(stderr, "copied %g\n", copied);
    return memory[0] == copied;
}
PROGRAM(managed_memory_read_by_the_host) {
    float* memory = nullptr;
    cudaMallocManaged(&memory, 32 * sizeof(float));
    for (int i = 0; i < 32; i++) memory[i] = 1;
    touch_kernel<<<1, 32>>>(memory);
    cudaDeviceSynchronize();
    const bool right = memory[31] == 2;
    cudaFree(memory);
    return right;
}
