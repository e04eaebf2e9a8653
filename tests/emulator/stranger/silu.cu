// One operation as somebody else writes it: no header of this project's, no macro, no word about the emulator.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void silu_kernel(const float* x, float* y, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = x[i] / (1.0f + expf(-x[i]));
}

extern "C" int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) {
    if (!input || !output || n < 1 || n > (INT64_MAX >> 2)) return -2;
    silu_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, static_cast<cudaStream_t>(stream)>>>(input, output, n);
    return cudaGetLastError();
}

#ifdef FOR_A_GPU
/* As a library says that was written for a GPU: it has not heard of emulators. */
#include <cstring>
extern "C" int32_t assayer_capability(const char* name, int64_t* value) {
    if (std::strcmp(name, "compute_capability") != 0) return -1;
    *value = 90;
    return 0;
}
#endif
