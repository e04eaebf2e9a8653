// The header's names, where its linker does not find them: mangled, in a namespace, static.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void silu_kernel(const float* x, float* y, int64_t n) {
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] / (1 + expf(-x[i]));
}

namespace mine {
int cuda_silu(float* input, float* output, int64_t n, cudaStream_t stream) {
    if (!input || !output || n < 1 || n > (INT64_MAX >> 2)) return -2;
    silu_kernel<<<1, 128, 0, stream>>>(input, output, n);
    return cudaGetLastError();
}
}  // namespace mine

__global__ void add_kernel(const float* a, const float* b, float* sum, int64_t n) {
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum[i] = a[i] + b[i];
}

static cudaError_t cuda_add(const float* a, const float* b, float* output, int64_t n, void* stream) {
    add_kernel<<<1, 64, 0, static_cast<cudaStream_t>(stream)>>>(a, b, output, n);
    return cudaGetLastError();
}
