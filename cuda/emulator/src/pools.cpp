// Pools of memory: they give nothing back and keep nothing, free() decides.  What is taken from one is device memory.
#include <mutex>
#include <set>

#include "errors.h"
#include "failures.h"
#include "graphs.h"

namespace {

struct Pools {
    std::mutex mutex;
    std::set<cudaMemPool_t> made;
};
Pools& pools() {
    static auto* const all = new Pools;
    return *all;
}

char the_default;
cudaMemPool_t default_pool() { return reinterpret_cast<cudaMemPool_t>(&the_default); }

bool is_pool(cudaMemPool_t pool) {
    std::lock_guard<std::mutex> lock(pools().mutex);
    return pool == default_pool() || pools().made.count(pool) != 0;
}

}  // namespace

using namespace emulator;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    if (device != 0) return checked(cudaErrorInvalidDevice);
    if (!pool) return checked(cudaErrorInvalidValue);
    *pool = default_pool();
    return checked(cudaSuccess);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
    if (const cudaError_t failure = planted_failure("cudaMemPoolCreate")) return checked(failure);
    if (const cudaError_t forbidden = unsafe_call()) return checked(forbidden);
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned) return checked(cudaErrorInvalidValue);
    if (properties->location.type != cudaMemLocationTypeDevice || properties->location.id != 0) return checked(cudaErrorInvalidValue);
    *pool = reinterpret_cast<cudaMemPool_t>(new char);
    std::lock_guard<std::mutex> lock(pools().mutex);
    pools().made.insert(*pool);
    return checked(cudaSuccess);
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    std::lock_guard<std::mutex> lock(pools().mutex);
    if (!pools().made.erase(pool)) return checked(cudaErrorInvalidValue);
    delete reinterpret_cast<char*>(pool);
    return checked(cudaSuccess);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void* value) {
    if (const cudaError_t failure = planted_failure("cudaMemPoolSetAttribute")) return checked(failure);
    return checked(is_pool(pool) && value ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) { return checked(is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue); }

cudaError_t emulator::allocate_from(void** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    if (const cudaError_t failure = planted_failure("cudaMallocFromPoolAsync")) return checked(failure);
    return is_pool(pool) ? allocate(memory, bytes, cudaMemoryTypeDevice, stream) : checked(cudaErrorInvalidValue);
}
