// Kernels whose threads wait for each other, and calls of warp functions with wrong masks.
#include "harness.h"
#include "ptx.cuh"

#include <cooperative_groups.h>

#include <cassert>

constexpr unsigned ALL = 0xffffffffu;

// One half waits for the block, the other for the warp.
__global__ void barrier_in_a_branch_kernel(float* output) {
    float value = static_cast<float>(threadIdx.x);
    if (threadIdx.x < 16) {
        __syncthreads();  // WAIT barrier_in_a_branch
    } else {
        value += __shfl_xor_sync(ALL, value, 1);  // WAIT barrier_in_a_branch
    }
    output[threadIdx.x] = value;
}
PROGRAM(barrier_in_a_branch) {
    Array<float> output(32);
    barrier_in_a_branch_kernel<<<2, 32>>>(output);
    return cudaGetLastError() == cudaErrorLaunchFailure;
}

// Two barriers where one was meant.
__global__ void two_barriers_kernel(float* output) {
    __shared__ float value;
    if (threadIdx.x < 32) {
        value = 1;
        __syncthreads();  // WAIT two_barriers
    } else {
        __syncthreads();  // WAIT two_barriers
        output[threadIdx.x] = value;
    }
}
PROGRAM(two_barriers) {
    Array<float> output(64);
    two_barriers_kernel<<<1, 64>>>(output);
    return cudaGetLastError() == cudaErrorLaunchFailure;
}

__global__ void own_lane_kernel(float* output) {
    float value = static_cast<float>(threadIdx.x);
    if (threadIdx.x < 16) value += __shfl_xor_sync(0xffff0000u, value, 1);  // WAIT lane_outside_its_mask
    output[threadIdx.x] = value;
}
PROGRAM(lane_outside_its_mask) {
    Array<float> output(32);
    own_lane_kernel<<<1, 32>>>(output);
    return cudaGetLastError() == cudaErrorLaunchFailure;
}

__global__ void masks_differ_kernel(unsigned* output) {
    const unsigned mask = threadIdx.x < 16 ? ALL : 0xffff0001u;
    output[threadIdx.x] = __ballot_sync(mask | 1u << threadIdx.x, 1);  // WAIT masks_differ
}
PROGRAM(masks_differ) {
    Array<unsigned> output(32);
    masks_differ_kernel<<<1, 32>>>(output);
    return cudaGetLastError() == cudaErrorLaunchFailure;
}

__global__ void functions_differ_kernel(unsigned* output) {
    if (threadIdx.x % 2) {
        output[threadIdx.x] = __ballot_sync(ALL, 1);  // WAIT functions_differ
    } else {
        output[threadIdx.x] = __shfl_sync(ALL, threadIdx.x, 0);  // WAIT functions_differ
    }
}
PROGRAM(functions_differ) {
    Array<unsigned> output(32);
    functions_differ_kernel<<<1, 32>>>(output);
    return cudaGetLastError() == cudaErrorLaunchFailure;
}

// Each lane waits for a lock that a lane holds which waits for the warp.
__global__ void held_lock_kernel(int* lock, int* count) {
    while (atomicCAS(lock, 0, 1) != 0) {}  // nobody gives it back
    *count += 1;
    __syncwarp();
    atomicExch(lock, 0);
}
PROGRAM(lock_held_forever) {
    Array<int> lock(1), count(1);
    held_lock_kernel<<<1, 32>>>(lock, count);
    return cudaGetLastError() == cudaErrorLaunchTimeout;
}

__global__ void trap_kernel(int* output) {
    if (threadIdx.x == 3) __trap();
    output[blockIdx.x * 32 + threadIdx.x] = 1;
}
PROGRAM(trap_ends_the_kernel) {
    Array<int> output(128);
    trap_kernel<<<4, 32>>>(output);
    return cudaGetLastError() == cudaErrorLaunchFailure;
}

__global__ void assert_kernel(int least) {
    assert(static_cast<int>(threadIdx.x) != 5 || least > 3);  // WAIT assertion_fails
}
PROGRAM(assertion_fails) {
    assert_kernel<<<2, 32>>>(3);
    return cudaDeviceSynchronize() == cudaErrorAssert;
}

#if defined(ASSAYER_EMULATED)  // a device hangs
__global__ void grid_barrier_kernel() { cooperative_groups::this_grid().sync(); }
PROGRAM(grid_barrier) {
    grid_barrier_kernel<<<2, 32>>>();
    return cudaGetLastError() == cudaErrorLaunchFailure;
}

__global__ void half_a_warp_kernel(const __half* a, float* c) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, a, 16);
    wmma::fill_fragment(sum, 0.0f);
    if (threadIdx.x < 16) return;
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
PROGRAM(matrix_product_by_half_a_warp) {
    Array<__half> a(256, __float2half(1.0f));
    Array<float> c(256);
    half_a_warp_kernel<<<1, 32>>>(a, c);
    return cudaGetLastError() == cudaErrorLaunchFailure;
}

__global__ void misaligned_rows_kernel(uint32_t* output) {
    __shared__ __align__(16) __half tile[32][9];
    uint32_t registers[4];
    load_4(registers, tile[threadIdx.x]);
    output[threadIdx.x] = registers[0];
}
PROGRAM(matrix_rows_misaligned) {
    Array<uint32_t> output(32);
    misaligned_rows_kernel<<<1, 32>>>(output);
    return cudaGetLastError() == cudaErrorLaunchFailure;
}
#endif

// After a failure every call says so, until the device is reset; then all is well again.
PROGRAM(failure_stays) {
    Array<int> output(128);
    trap_kernel<<<4, 32>>>(output);
    void* memory = nullptr;
    if (cudaMalloc(&memory, 64) != cudaErrorLaunchFailure) return false;
    if (cudaDeviceSynchronize() != cudaErrorLaunchFailure || cudaGetLastError() != cudaErrorLaunchFailure) return false;
    if (cudaGetLastError() != cudaErrorLaunchFailure) return false;
    cudaDeviceReset();
    return cudaMalloc(&memory, 64) == cudaSuccess && cudaFree(memory) == cudaSuccess && cudaGetLastError() == cudaSuccess;
}

// A barrier that too few come to.
__global__ void too_few_kernel(float* output) {
    if (threadIdx.x < 32) barrier_sync(2, 96);  // WAIT barrier_that_too_few_come_to
    else barrier_arrive(2, 96);
    output[threadIdx.x] = 1;
}
PROGRAM(barrier_that_too_few_come_to) {
    Array<float> output(64);
    too_few_kernel<<<1, 64>>>(output);
    return cudaGetLastError() == cudaErrorLaunchFailure;
}

__global__ void two_counts_kernel(float* output) {
    barrier_sync(1, threadIdx.x < 32 ? 64 : 96);
    output[threadIdx.x] = 1;
}
PROGRAM(barrier_with_two_counts) {
    Array<float> output(64);
    two_counts_kernel<<<1, 64>>>(output);
    return cudaGetLastError() == cudaErrorLaunchFailure;
}

__global__ void no_such_barrier_kernel(float* output) {
    barrier_sync(16, 32);
    output[threadIdx.x] = 1;
}
PROGRAM(barrier_of_no_such_number) {
    Array<float> output(32);
    no_such_barrier_kernel<<<1, 32>>>(output);
    return cudaGetLastError() == cudaErrorLaunchFailure;
}
