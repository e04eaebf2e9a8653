// What was allocated is remembered, so that freeing what was not and copying past an end are the errors they are in CUDA.
// A pointer to host memory works in a kernel; one to device memory does not on the host (device_memory.h).
#include "memory.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "death.h"
#include "default_stream.h"
#include "device_memory.h"
#include "errors.h"
#include "failures.h"
#include "graphs.h"
#include "pools.h"
#include "settings.h"
#include "shared_memory.h"
#include "streams.h"

namespace emulator {
namespace {

struct Allocation {
    size_t bytes;
    cudaMemoryType type;
};
struct Allocations {
    std::mutex mutex;
    std::map<uintptr_t, Allocation> at;
};
Allocations& allocations() {
    static auto* const all = new Allocations;
    return *all;
}

// How many bytes there are from the address to the end of its allocation, and of which type; none where it lies in no one's.
Allocation rest_from(const void* memory) {
    const auto address = reinterpret_cast<uintptr_t>(memory);
    Allocations& all = allocations();
    std::lock_guard<std::mutex> lock(all.mutex);
    auto after = all.at.upper_bound(address);
    if (after == all.at.begin()) return {0, cudaMemoryTypeUnregistered};
    const auto& [start, allocation] = *--after;
    if (address >= start + allocation.bytes) return {0, cudaMemoryTypeUnregistered};
    return {start + allocation.bytes - address, allocation.type};
}

void* obtain(size_t bytes, cudaMemoryType type) {
    if (type == cudaMemoryTypeDevice) return take_device_memory(bytes);
    void* memory = nullptr;
    return bytes > PTRDIFF_MAX - 256 || posix_memalign(&memory, 256, bytes) != 0 ? nullptr : memory;
}

void give_back(void* memory, const Allocation& allocation) {
    if (allocation.type != cudaMemoryTypeDevice) return std::free(memory);
    if (settings().fill) check_end(memory, allocation.bytes);
    give_back_device_memory(memory, allocation.bytes);
}

}  // namespace

bool fits(const void* memory, size_t bytes) {
    const Allocation rest = rest_from(memory);
    return memory && (rest.type == cudaMemoryTypeUnregistered || bytes <= rest.bytes);
}

cudaError_t release(void* memory, bool of_host) {
    if (!memory) return checked(cudaSuccess);
    Allocations& all = allocations();
    Allocation freed;
    {
        std::lock_guard<std::mutex> lock(all.mutex);
        const auto found = all.at.find(reinterpret_cast<uintptr_t>(memory));
        if (found == all.at.end() || (found->second.type == cudaMemoryTypeHost) != of_host) return checked(cudaErrorInvalidValue);
        freed = found->second;
        all.at.erase(found);
    }
    give_back_to_pool(memory);
    give_back(memory, freed);
    return checked(cudaSuccess);
}

cudaMemoryType type_of(const void* memory) { return rest_from(memory).type; }

cudaError_t allocate_outright(void** memory, size_t bytes, cudaMemoryType type) {
    if (const cudaError_t failure = planted_failure("cudaMalloc")) return checked(failure);
    if (const cudaError_t forbidden = unsafe_call()) return checked(forbidden);
    return allocate(memory, bytes, type);
}

cudaError_t allocate(void** memory, size_t bytes, cudaMemoryType type, cudaStream_t stream) {
    if (!memory) return checked(cudaErrorInvalidValue);
    if (!is_stream(stream)) return checked(cudaErrorInvalidResourceHandle);
    if (const cudaError_t failed = checked(cudaSuccess)) return failed;
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (type != cudaMemoryTypeHost && memory_is_refused()) return checked(cudaErrorMemoryAllocation);
    name_the_culprit();
    *memory = obtain(bytes, type);
    if (!*memory) return checked(cudaErrorMemoryAllocation);
    if (settings().fill) {
        const DeviceAccess access;
        std::memset(*memory, 0xff, bytes);
        if (type == cudaMemoryTypeDevice) mark_end(*memory, bytes);
    }
    {
        Allocations& all = allocations();
        std::lock_guard<std::mutex> lock(all.mutex);
        all.at[reinterpret_cast<uintptr_t>(*memory)] = {bytes, type};
    }
    if (kept_by_graph(stream, *memory) && settings().fill) cudaMemsetAsync(*memory, 0xff, bytes, stream);
    return cudaSuccess;
}

}  // namespace emulator

using namespace emulator;

static cudaError_t release_outright(void* memory, bool of_host) {
    if (const cudaError_t failure = planted_failure("cudaFree")) return checked(failure);
    const cudaError_t forbidden = memory ? unsafe_call() : cudaSuccess;
    if (forbidden) return checked(forbidden);
    catch_up(nullptr);
    return release(memory, of_host);
}
cudaError_t cudaFree(void* memory) { return release_outright(memory, false); }
cudaError_t cudaFreeHost(void* memory) { return release_outright(memory, true); }
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
    if (const cudaError_t failure = planted_failure("cudaFreeAsync")) return checked(failure);
    if (is_kept_by_graph(stream, memory)) return checked(cudaSuccess);
    if (!is_stream(stream)) return checked(cudaErrorInvalidResourceHandle);
    catch_up(stream);
    return release(memory, false);
}
cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned) { return checked(memory && bytes ? cudaSuccess : cudaErrorInvalidValue); }
cudaError_t cudaHostUnregister(void* memory) { return checked(memory ? cudaSuccess : cudaErrorInvalidValue); }

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
    if (!attributes) return checked(cudaErrorInvalidValue);
    const cudaMemoryType type = type_of(memory);
    void* const address = const_cast<void*>(memory);
    const bool on_device = type != cudaMemoryTypeUnregistered, on_host = type == cudaMemoryTypeHost || type == cudaMemoryTypeManaged;
    *attributes = {type, on_device ? 0 : cudaCpuDeviceId, on_device ? address : nullptr, on_host ? address : nullptr};
    return checked(cudaSuccess);
}

// Hints about managed memory, which there is one of here.
static cudaError_t hint(const void* memory, size_t bytes) {
    return checked(type_of(memory) == cudaMemoryTypeManaged && fits(memory, bytes) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, int, cudaStream_t) { return hint(memory, bytes); }
cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise, int) { return hint(memory, bytes); }
