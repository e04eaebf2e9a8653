// The comparison lets one thread too many through.
#include <cuda_runtime.h>

__global__ void silu(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = x[i] / (1 + expf(-x[i]));  // beyond
}
