/* What every launcher needs: sizes of grids, streams, return codes. */
#ifndef ASSAYER_LAUNCH_CUH
#define ASSAYER_LAUNCH_CUH

#include "../src/check.h" /* how arguments are checked is written once, for the C build and for the kernels */

#include <cuda_runtime.h>

__host__ __device__ constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
__host__ __device__ constexpr int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* Blocks for so many items.  A grid ends at 2^31 - 1 blocks: kernels over int64_t items stride by the grid. */
inline unsigned blocks_for(int64_t items, int64_t per_block) {
    return static_cast<unsigned>(min64(ceil_div(items, per_block), 2147483647));
}

inline cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }

/* The declared code for an error of the runtime, which is said here and not once more by the next launch. */
inline int32_t code_of(cudaError_t error) {
    if (error != cudaSuccess) cudaGetLastError();
    return error == cudaErrorMemoryAllocation ? ASSAYER_NO_MEMORY : static_cast<int32_t>(error);
}

/* True where a call of the runtime went well.  Where the answer to a failure is another way and no error, this is how
 * it is asked: the next launch has nothing to say then. */
inline bool succeeded(cudaError_t error) { return code_of(error) == ASSAYER_OK; }

/* What a launcher returns after its last launch. */
inline int32_t launched() { return code_of(cudaGetLastError()); }

/* An attribute of the device in use; 0 where there is none. */
inline int device_attribute(cudaDeviceAttr attribute) {
    int device = 0, value = 0;
    const bool known =
        succeeded(cudaGetDevice(&device)) && succeeded(cudaDeviceGetAttribute(&value, attribute, device));
    return known ? value : 0;
}

/* Leaves the calling function with the code of anything that failed. */
#define TRY(expression)                                                                                                \
    do {                                                                                                               \
        const int32_t code_ = (expression);                                                                            \
        if (code_ != ASSAYER_OK) return code_;                                                                         \
    } while (0)

#endif
