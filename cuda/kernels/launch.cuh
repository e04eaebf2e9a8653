/* What every launcher needs: sizes of grids, streams, return codes, and memory in the order of a stream. */
#ifndef ASSAYER_LAUNCH_CUH
#define ASSAYER_LAUNCH_CUH

#include "../src/check.h" /* how arguments are checked is written once, for the C build and for the kernels */

#include <cuda_runtime.h>

#include <mutex>

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

/* What a launcher returns after its last launch. */
inline int32_t launched() { return code_of(cudaGetLastError()); }

/* An attribute of the device in use; 0 where there is none. */
inline int device_attribute(cudaDeviceAttr attribute) {
    int device = 0, value = 0;
    if (cudaGetDevice(&device) != cudaSuccess) return 0;
    return cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess ? value : 0;
}

/* This library's own pool on the device in use, null where the device has none.  It keeps what it was given: at each
 * wait of the host the device's own pool would hand its memory back to the driver. */
inline cudaMemPool_t scratch_pool() {
    constexpr int DEVICES = 64;
    static struct {
        std::once_flag once;
        cudaMemPool_t pool;
    } made[DEVICES];
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device >= DEVICES) return nullptr;
    std::call_once(made[device].once, [device] {
        if (!device_attribute(cudaDevAttrMemoryPoolsSupported)) return;
        cudaMemPoolProps properties = {};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location = {cudaMemLocationTypeDevice, device};
        uint64_t all = UINT64_MAX;
        cudaMemPool_t pool = nullptr;
        if (cudaMemPoolCreate(&pool, &properties) != cudaSuccess) return;
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
        made[device].pool = pool;
    });
    return made[device].pool;
}

/* Memory for the kernels of one call, taken and given back in the order of the stream: the host waits for neither.  On
 * a device without memory pools it is taken outright; cudaFree then waits for the work that uses it. */
class Scratch {
public:
    Scratch(int64_t bytes, cudaStream_t stream) : stream(stream) {
        const cudaMemPool_t pool = scratch_pool();
        pooled = pool != nullptr;
        const size_t size = static_cast<size_t>(bytes);
        error = pooled ? cudaMallocFromPoolAsync(&memory, size, pool, stream) : cudaMalloc(&memory, size);
        if (error == cudaSuccess) return;
        memory = nullptr;
    }
    ~Scratch() {
        if (!memory) return;
        if (pooled) cudaFreeAsync(memory, stream);
        else cudaFree(memory);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    /* ASSAYER_OK where there is memory. */
    int32_t code() const { return code_of(error); }
    template <typename T> T* as() const { return static_cast<T*>(memory); }

private:
    void* memory = nullptr;
    cudaStream_t stream;
    bool pooled;
    cudaError_t error;
};

/* Leaves the calling function with the code of anything that failed. */
#define TRY(expression)                                                                                                \
    do {                                                                                                               \
        const int32_t code_ = (expression);                                                                            \
        if (code_ != ASSAYER_OK) return code_;                                                                         \
    } while (0)

#endif
