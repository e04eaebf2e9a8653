// Device memory, which here is the host's: a pointer to either works in a kernel.  What was allocated is remembered, so that
// freeing what was not and copying past an end are the errors they are in CUDA.
#include <cstring>
#include <map>
#include <mutex>

#include "errors.h"
#include "settings.h"
#include "shared_memory.h"
#include "streams.h"

namespace emulator {
namespace {

struct Allocations {
    std::mutex mutex;
    std::map<uintptr_t, size_t> bytes_at;
};
Allocations& allocations() {
    static auto* const all = new Allocations;
    return *all;
}

// Whether the bytes can be copied from or to: memory of others is taken on trust, ours has an end.
bool fits(const void* memory, size_t bytes) {
    if (!memory) return false;
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    Allocations& all = allocations();
    std::lock_guard<std::mutex> lock(all.mutex);
    auto after = all.bytes_at.upper_bound(begin);
    if (after == all.bytes_at.begin()) return true;
    const auto& [start, size] = *--after;
    return begin >= start + size || bytes <= start + size - begin;
}

cudaError_t release(void* memory) {
    if (!memory) return checked(cudaSuccess);
    Allocations& all = allocations();
    {
        std::lock_guard<std::mutex> lock(all.mutex);
        if (!all.bytes_at.erase(reinterpret_cast<uintptr_t>(memory))) return checked(cudaErrorInvalidValue);
    }
    std::free(memory);
    return checked(cudaSuccess);
}

bool is_kind(cudaMemcpyKind kind) { return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault; }

}  // namespace

cudaError_t allocate(void** memory, size_t bytes, cudaStream_t stream) {
    if (!memory) return checked(cudaErrorInvalidValue);
    if (!is_stream(stream)) return checked(cudaErrorInvalidResourceHandle);
    *memory = nullptr;
    if (bytes == 0) return checked(cudaSuccess);
    if (bytes > PTRDIFF_MAX - 256 || posix_memalign(memory, 256, bytes) != 0) {
        *memory = nullptr;
        return checked(cudaErrorMemoryAllocation);
    }
    if (settings().fill) std::memset(*memory, 0xff, bytes);
    Allocations& all = allocations();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.bytes_at[reinterpret_cast<uintptr_t>(*memory)] = bytes;
    return checked(cudaSuccess);
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaFree(void* memory) { return release(memory); }
cudaError_t cudaFreeHost(void* memory) { return release(memory); }
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
    return is_stream(stream) ? release(memory) : checked(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
    if (!is_stream(stream)) return checked(cudaErrorInvalidResourceHandle);
    if (!is_kind(kind)) return checked(cudaErrorInvalidMemcpyDirection);
    if (width == 0 || height == 0) return checked(cudaSuccess);
    if (width > to_pitch || width > from_pitch) return checked(cudaErrorInvalidValue);
    if (!fits(to, to_pitch * (height - 1) + width) || !fits(from, from_pitch * (height - 1) + width)) return checked(cudaErrorInvalidValue);
    if (const cudaError_t failed = checked(cudaSuccess)) return failed;
    for (size_t row = 0; row < height; row++) {
        std::memmove(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
    }
    return cudaSuccess;
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) { return cudaMemcpyAsync(to, from, bytes, kind, nullptr); }

cudaError_t cudaMemsetAsync(void* memory, int byte, size_t bytes, cudaStream_t stream) {
    if (!is_stream(stream)) return checked(cudaErrorInvalidResourceHandle);
    if (bytes == 0) return checked(cudaSuccess);
    if (!fits(memory, bytes)) return checked(cudaErrorInvalidValue);
    if (const cudaError_t failed = checked(cudaSuccess)) return failed;
    std::memset(memory, byte, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int byte, size_t bytes) { return cudaMemsetAsync(memory, byte, bytes, nullptr); }

// One pool, which gives nothing back and keeps nothing: free() decides.
static char the_pool;
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    if (device != 0) return checked(cudaErrorInvalidDevice);
    if (!pool) return checked(cudaErrorInvalidValue);
    *pool = reinterpret_cast<cudaMemPool_t>(&the_pool);
    return checked(cudaSuccess);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void* value) {
    return checked(pool == reinterpret_cast<cudaMemPool_t>(&the_pool) && value ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
    return checked(pool == reinterpret_cast<cudaMemPool_t>(&the_pool) ? cudaSuccess : cudaErrorInvalidValue);
}
