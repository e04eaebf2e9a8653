// Pools of memory.  They count what they keep, and free() decides where it is: a pool reserves more when what was given back to
// it does not do, and keeps that until it is trimmed.  What is taken from one is device memory.
#include "pools.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "errors.h"
#include "failures.h"
#include "graphs.h"

namespace {

struct Pool {
    uint64_t used = 0, reserved = 0;  // bytes
};
struct Taken {
    cudaMemPool_t pool;
    uint64_t bytes;
};
struct Pools {
    std::mutex mutex;
    std::map<cudaMemPool_t, Pool> made;
    std::map<void*, Taken> taken;
};
Pools& pools() {
    static auto* const all = new Pools;
    return *all;
}

char the_default;
cudaMemPool_t default_pool() { return reinterpret_cast<cudaMemPool_t>(&the_default); }

// Runs action on the pool, where there is one.
template <class Action>
cudaError_t with_pool(cudaMemPool_t pool, Action action) {
    Pools& all = pools();
    std::lock_guard<std::mutex> lock(all.mutex);
    if (pool == default_pool()) all.made.insert({pool, {}});
    const auto found = all.made.find(pool);
    return found == all.made.end() ? cudaErrorInvalidValue : action(found->second);
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
    pools().made.insert({*pool, {}});
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
    return checked(with_pool(pool, [=](Pool&) { return value ? cudaSuccess : cudaErrorInvalidValue; }));
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return checked(with_pool(pool, [=](Pool& asked) {
        const bool used = attribute == cudaMemPoolAttrUsedMemCurrent;
        if (!value || !(used || attribute == cudaMemPoolAttrReservedMemCurrent)) return cudaErrorInvalidValue;
        *static_cast<uint64_t*>(value) = used ? asked.used : asked.reserved;
        return cudaSuccess;
    }));
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
    if (const cudaError_t failure = planted_failure("cudaMemPoolTrimTo")) return checked(failure);
    return checked(with_pool(pool, [=](Pool& trimmed) {
        trimmed.reserved = std::max(trimmed.used, std::min(trimmed.reserved, uint64_t{bytes}));
        return cudaSuccess;
    }));
}

void emulator::give_back_to_pool(void* memory) {
    Pools& all = pools();
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.taken.find(memory);
    if (found == all.taken.end()) return;
    const auto pool = all.made.find(found->second.pool);
    if (pool != all.made.end()) pool->second.used -= found->second.bytes;
    all.taken.erase(found);
}

cudaError_t emulator::allocate_from(void** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    if (const cudaError_t failure = planted_failure("cudaMallocFromPoolAsync")) return checked(failure);
    if (const cudaError_t none = with_pool(pool, [](Pool&) { return cudaSuccess; })) return checked(none);
    if (const cudaError_t failed = allocate(memory, bytes, cudaMemoryTypeDevice, stream)) return failed;
    return with_pool(pool, [=](Pool& asked) {
        asked.used += bytes;
        asked.reserved = std::max(asked.reserved, asked.used);
        pools().taken[*memory] = {pool, bytes};
        return cudaSuccess;
    });
}
