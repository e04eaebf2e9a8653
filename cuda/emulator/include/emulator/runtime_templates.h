// What CUDA declares as templates: calls that take a pointer, a kernel or a variable of any type.
#pragma once

#include "runtime_api.h"

namespace emulator {
cudaError_t allocate(void** memory, size_t bytes, cudaMemoryType type, cudaStream_t stream = nullptr);
cudaError_t allocate_outright(void** memory, size_t bytes, cudaMemoryType type);
cudaError_t allocate_from(void** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t set_attribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t get_attributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t blocks_per_multiprocessor(int* blocks, const void* kernel, int threads, size_t dynamic_shared);
cudaError_t fullest_block(int* grid, int* block, const void* kernel, size_t dynamic_shared, int limit);
}  // namespace emulator

template <class T> inline cudaError_t cudaMalloc(T** memory, size_t bytes) { return emulator::allocate_outright(reinterpret_cast<void**>(memory), bytes, cudaMemoryTypeDevice); }
template <class T> inline cudaError_t cudaMallocAsync(T** memory, size_t bytes, cudaStream_t stream) { return emulator::allocate(reinterpret_cast<void**>(memory), bytes, cudaMemoryTypeDevice, stream); }
template <class T> inline cudaError_t cudaMallocFromPoolAsync(T** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) { return emulator::allocate_from(reinterpret_cast<void**>(memory), bytes, pool, stream); }
template <class T> inline cudaError_t cudaMallocHost(T** memory, size_t bytes, unsigned = cudaHostAllocDefault) { return emulator::allocate_outright(reinterpret_cast<void**>(memory), bytes, cudaMemoryTypeHost); }
template <class T> inline cudaError_t cudaHostAlloc(T** memory, size_t bytes, unsigned) { return cudaMallocHost(memory, bytes); }
template <class T> inline cudaError_t cudaMallocManaged(T** memory, size_t bytes, unsigned = cudaMemAttachGlobal) { return emulator::allocate_outright(reinterpret_cast<void**>(memory), bytes, cudaMemoryTypeManaged); }
template <class T> inline cudaError_t cudaMallocPitch(T** memory, size_t* pitch, size_t width, size_t height) {
    *pitch = (width + 511) / 512 * 512;
    return cudaMalloc(memory, *pitch * height);
}
template <class T> inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
    *device = static_cast<T*>(host);
    return cudaSuccess;
}

template <class K> inline cudaError_t cudaFuncSetAttribute(K* kernel, cudaFuncAttribute attribute, int value) { return emulator::set_attribute(reinterpret_cast<const void*>(kernel), attribute, value); }
template <class K> inline cudaError_t cudaFuncSetCacheConfig(K*, cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
template <class K> inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, K* kernel) { return emulator::get_attributes(attributes, reinterpret_cast<const void*>(kernel)); }
template <class K> inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K* kernel, int threads, size_t dynamic_shared) {
    return emulator::blocks_per_multiprocessor(blocks, reinterpret_cast<const void*>(kernel), threads, dynamic_shared);
}
template <class K> inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, K* kernel, size_t dynamic_shared = 0, int limit = 0) {
    return emulator::fullest_block(grid, block, reinterpret_cast<const void*>(kernel), dynamic_shared, limit);
}

// __device__ and __constant__ variables are ordinary ones here.
template <class T> inline cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
    *address = const_cast<T*>(&symbol);
    return cudaSuccess;
}
template <class T> inline cudaError_t cudaGetSymbolSize(size_t* size, const T&) {
    *size = sizeof(T);
    return cudaSuccess;
}
template <class T> inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind, cudaStream_t stream = nullptr) {
    if (offset > sizeof(T) || bytes > sizeof(T) - offset) return cudaErrorInvalidValue;
    return cudaMemcpyAsync(reinterpret_cast<char*>(const_cast<T*>(&symbol)) + offset, from, bytes, cudaMemcpyDefault, stream);
}
template <class T> inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind);
}
template <class T> inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset, cudaMemcpyKind, cudaStream_t stream = nullptr) {
    if (offset > sizeof(T) || bytes > sizeof(T) - offset) return cudaErrorInvalidValue;
    return cudaMemcpyAsync(to, reinterpret_cast<const char*>(&symbol) + offset, bytes, cudaMemcpyDefault, stream);
}
template <class T> inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind);
}
