// RMSNorm and softmax as a course writes them: other names, templates, dynamic shared memory, a main() that tries them.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)

template <typename T, int BLOCK>
__global__ void rms_norm_kernel(T* out, const T* x, const T* gamma, int d, float epsilon) {
    extern __shared__ float partial[];
    const T* row = x + (size_t)blockIdx.x * d;
    float sum = 0.f;
    for (int i = threadIdx.x; i < d; i += BLOCK) sum += row[i] * row[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    const float r = 1.f / sqrtf(partial[0] / d + epsilon);
    for (int i = threadIdx.x; i < d; i += BLOCK) out[(size_t)blockIdx.x * d + i] = row[i] * r * gamma[i];
}

// out comes first, and the epsilon is a double.
template <typename T>
cudaError_t rms_norm(T* out, const T* x, const T* gamma, size_t n, size_t d, double epsilon) {
    const int block = 128;
    rms_norm_kernel<T, block><<<n, block, block * sizeof(float)>>>(out, x, gamma, d, epsilon);
    return cudaGetLastError();
}

__global__ void softmax_kernel(const float* logits, float* probs, int n, int width) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    logits += (size_t)row * width, probs += (size_t)row * width;
    float largest = logits[0], sum = 0;
    for (int i = 1; i < width; i++) largest = logits[i] > largest || logits[i] != logits[i] ? logits[i] : largest;
    for (int i = 0; i < width; i++) sum += probs[i] = expf(logits[i] - largest);
    for (int i = 0; i < width; i++) probs[i] /= sum;
}

namespace course {
// On host memory, as a first exercise has it.
static void silu(float* y, float* x, int count) {
    float *d_x, *d_y;
    CHECK(cudaMalloc(&d_x, count * sizeof(float)));
    CHECK(cudaMalloc(&d_y, count * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x, count * sizeof(float), cudaMemcpyHostToDevice));
    silu_kernel<<<ceil_div(count, 256), 256>>>(d_x, d_y, count);
    CHECK(cudaMemcpy(y, d_y, count * sizeof(float), cudaMemcpyDeviceToHost));
    cudaFree(d_x);
    cudaFree(d_y);
}
}  // namespace course

// C = A B, B with K rows.
__global__ void matmul(float* C, const float* A, const float* B, int M, int N, int K, float alpha) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = alpha * sum;
}

int main() {
    float x[4] = {1, 2, 3, 4}, y[4];
    course::silu(y, x, 4);
    printf("%f\n", y[3]);
}
