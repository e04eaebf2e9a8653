// The barrier in the loop is missing.
#include <cuda_runtime.h>

__global__ void rms(const float* x, const float* w, float* y, int d, float eps) {
    __shared__ float partial[256];
    const float* row = x + blockIdx.x * (size_t)d;
    float sum = 0;
    for (int i = threadIdx.x; i < d; i += blockDim.x) sum += row[i] * row[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2)
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];  // race
    __syncthreads();
    const float r = 1 / sqrtf(partial[0] / d + eps);
    for (int i = threadIdx.x; i < d; i += blockDim.x) y[blockIdx.x * (size_t)d + i] = row[i] * r * w[i];
}
