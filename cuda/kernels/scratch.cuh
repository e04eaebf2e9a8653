/* Memory for the kernels of one call, from a pool of this library's own. */
#ifndef ASSAYER_SCRATCH_CUH
#define ASSAYER_SCRATCH_CUH

#include "launch.cuh"

#include <mutex>

/* While it lives, this thread's calls leave captures alone, those of the caller among them: without it, making a pool
 * is an error that ends every capture that was not begun as a relaxed one. */
class BesideCaptures {
public:
    BesideCaptures() { exchange(); }
    ~BesideCaptures() { exchange(); }
    BesideCaptures(const BesideCaptures&) = delete;
    BesideCaptures& operator=(const BesideCaptures&) = delete;

private:
    void exchange() { succeeded(cudaThreadExchangeStreamCaptureMode(&mode)); }

    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed; /* then that of the thread, until it is put back */
};

/* A pool on a device, null where none can be.  It keeps what it was given until it is trimmed: at each wait of the host
 * the device's own pool would hand its memory back to the driver. */
inline cudaMemPool_t make_pool(int device) {
    const BesideCaptures beside;
    if (!device_attribute(cudaDevAttrMemoryPoolsSupported)) return nullptr;
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, device};
    uint64_t all = UINT64_MAX;
    cudaMemPool_t pool = nullptr;
    if (!succeeded(cudaMemPoolCreate(&pool, &properties))) return nullptr;
    if (succeeded(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all))) return pool;
    succeeded(cudaMemPoolDestroy(pool));
    return nullptr;
}

/* This library's pool on the device in use, made by the first call; null where the device has none. */
inline cudaMemPool_t scratch_pool() {
    constexpr int DEVICES = 64;
    static struct {
        std::once_flag once;
        cudaMemPool_t pool;
    } made[DEVICES];
    int device = 0;
    if (!succeeded(cudaGetDevice(&device)) || device >= DEVICES) return nullptr;
    std::call_once(made[device].once, [device] { made[device].pool = make_pool(device); });
    return made[device].pool;
}

/* Hands back to the driver what no call uses. */
inline void trim_scratch() {
    if (const cudaMemPool_t pool = scratch_pool()) succeeded(cudaMemPoolTrimTo(pool, 0));
}

inline bool is_captured(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return succeeded(cudaStreamIsCapturing(stream, &status)) && status != cudaStreamCaptureStatusNone;
}

/* Memory for the kernels of one call, taken and given back in the order of the stream: the host waits for neither.  On
 * a device without memory pools it is taken outright; cudaFree then waits for the work that uses it, so that such a
 * call cannot be part of a graph. */
class Scratch {
public:
    Scratch(int64_t bytes, cudaStream_t stream) : stream(stream), pool(scratch_pool()) {
        const size_t size = static_cast<size_t>(bytes);
        if (pool) error = cudaMallocFromPoolAsync(&memory, size, pool, stream);
        else error = is_captured(stream) ? cudaErrorStreamCaptureUnsupported : cudaMalloc(&memory, size);
        if (error != cudaSuccess) memory = nullptr;
    }
    /* A launch that failed has been said before; what fails here is nobody's launch. */
    ~Scratch() {
        if (memory) succeeded(pool ? cudaFreeAsync(memory, stream) : cudaFree(memory));
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    /* ASSAYER_OK where there is memory. */
    int32_t code() const { return code_of(error); }
    template <typename T> T* as() const { return static_cast<T*>(memory); }

private:
    void* memory = nullptr;
    cudaStream_t stream;
    cudaMemPool_t pool;
    cudaError_t error;
};

#endif
