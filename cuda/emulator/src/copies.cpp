// Copying and filling memory.
#include <cstring>

#include "default_stream.h"
#include "device_memory.h"
#include "errors.h"
#include "graphs.h"
#include "memory.h"
#include "streams.h"

using namespace emulator;

// Host memory named where only a device's can be, or the reverse, as far as it can be told: what was not allocated by CUDA
// may be a __device__ variable, which here is an ordinary one.
static bool goes_the_other_way(const void* to, const void* from, cudaMemcpyKind kind) {
    const bool to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
    const bool from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
    return (to_host && type_of(to) == cudaMemoryTypeDevice) || (from_host && type_of(from) == cudaMemoryTypeDevice);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
    if (!is_stream(stream)) return checked(cudaErrorInvalidResourceHandle);
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return checked(cudaErrorInvalidMemcpyDirection);
    if (width == 0 || height == 0) return checked(cudaSuccess);
    if (width > to_pitch || width > from_pitch || goes_the_other_way(to, from, kind)) return checked(cudaErrorInvalidValue);
    if (!fits(to, to_pitch * (height - 1) + width) || !fits(from, from_pitch * (height - 1) + width)) return checked(cudaErrorInvalidValue);
    if (const cudaError_t failed = checked(cudaSuccess)) return failed;
    const auto copy = [=] { return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr); };
    if (recorded(stream, copy)) return cudaSuccess;
    catch_up(stream);
    const DeviceAccess access;
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

static cudaError_t fill(void* memory, size_t pitch, int byte, size_t width, size_t height) {
    if (const cudaError_t failed = checked(cudaSuccess)) return failed;
    const DeviceAccess access;
    for (size_t row = 0; row < height; row++) std::memset(static_cast<char*>(memory) + row * pitch, byte, width);
    return cudaSuccess;
}
cudaError_t cudaMemset2DAsync(void* memory, size_t pitch, int byte, size_t width, size_t height, cudaStream_t stream) {
    if (!is_stream(stream)) return checked(cudaErrorInvalidResourceHandle);
    if (width == 0 || height == 0) return checked(cudaSuccess);
    if (width > pitch || !fits(memory, pitch * (height - 1) + width)) return checked(cudaErrorInvalidValue);
    if (const cudaError_t failed = checked(cudaSuccess)) return failed;
    const auto filling = [=] { return fill(memory, pitch, byte, width, height); };
    if (recorded(stream, filling) || postponed(stream, filling)) return cudaSuccess;
    catch_up(stream);
    return filling();
}
cudaError_t cudaMemset2D(void* memory, size_t pitch, int byte, size_t width, size_t height) {
    return cudaMemset2DAsync(memory, pitch, byte, width, height, nullptr);
}
cudaError_t cudaMemsetAsync(void* memory, int byte, size_t bytes, cudaStream_t stream) {
    return cudaMemset2DAsync(memory, bytes, byte, bytes, 1, stream);
}
cudaError_t cudaMemset(void* memory, int byte, size_t bytes) { return cudaMemsetAsync(memory, byte, bytes, nullptr); }
