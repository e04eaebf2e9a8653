// One operation as a course on CUDA writes it: names and arguments are its own, and rmsnorm.toml says what they mean.
#include <cuda_runtime.h>

// A block for each row; `threads` is a power of two.
template <int threads>
__global__ void rms_norm_kernel(float* y, const float* x, const float* gamma, int width, float epsilon) {
    extern __shared__ float sums[];
    x += blockIdx.x * static_cast<size_t>(width);
    y += blockIdx.x * static_cast<size_t>(width);
    float sum = 0;
    for (int i = threadIdx.x; i < width; i += threads) sum += x[i] * x[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    const float r = 1 / sqrtf(sums[0] / width + epsilon);
    for (int i = threadIdx.x; i < width; i += threads) y[i] = x[i] * r * gamma[i];
}

// All arrays lie on the device.
cudaError_t rms_norm(float* y, const float* x, const float* gamma, int rows, int width, float epsilon, cudaStream_t stream) {
    constexpr int threads = 128;
    rms_norm_kernel<threads><<<rows, threads, threads * sizeof(float), stream>>>(y, x, gamma, width, epsilon);
    return cudaGetLastError();
}
