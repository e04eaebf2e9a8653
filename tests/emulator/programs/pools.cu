// Pools of memory, and what may be done while a stream is captured.
#include "harness.h"

static cudaMemPool_t made_pool() {
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool = nullptr;
    cudaMemPoolCreate(&pool, &properties);
    return pool;
}

static uint64_t bytes(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    uint64_t value = 1;
    cudaMemPoolGetAttribute(pool, attribute, &value);
    return value;
}

PROGRAM(a_pool_keeps_what_it_has_until_it_is_trimmed) {
    const cudaMemPool_t pool = made_pool();
    uint64_t all = UINT64_MAX;
    char* memory = nullptr;
    bool right = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all) == cudaSuccess;
    right = right && cudaMallocFromPoolAsync(&memory, 1000, pool, nullptr) == cudaSuccess;
    right = right && bytes(pool, cudaMemPoolAttrUsedMemCurrent) >= 1000 && cudaMemPoolTrimTo(pool, 0) == cudaSuccess;
    right = right && bytes(pool, cudaMemPoolAttrReservedMemCurrent) >= 1000;
    right = right && cudaFreeAsync(memory, nullptr) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
    right = right && bytes(pool, cudaMemPoolAttrUsedMemCurrent) == 0 && bytes(pool, cudaMemPoolAttrReservedMemCurrent) >= 1000;
    right = right && cudaMemPoolTrimTo(pool, 0) == cudaSuccess && bytes(pool, cudaMemPoolAttrReservedMemCurrent) == 0;
    return right && cudaMemPoolDestroy(pool) == cudaSuccess;
}

// Whether memory taken outright during a capture of this mode is an error, which ends the capture too.
static bool forbids(cudaStreamCaptureMode capture, cudaStreamCaptureMode of_thread) {
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    char* memory = nullptr;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, capture);
    cudaThreadExchangeStreamCaptureMode(&of_thread);
    const bool refused = cudaMalloc(&memory, 8) == cudaErrorStreamCaptureUnsupported;
    cudaThreadExchangeStreamCaptureMode(&of_thread);
    const bool broken = cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated;
    if (!refused) cudaFree(memory);
    if (!broken) cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaGetLastError();
    return refused && broken;
}
PROGRAM(memory_taken_while_a_stream_is_captured) {
    const auto global = cudaStreamCaptureModeGlobal, local = cudaStreamCaptureModeThreadLocal, relaxed = cudaStreamCaptureModeRelaxed;
    bool right = forbids(global, global) && forbids(local, global) && forbids(global, local);
    right = right && !forbids(relaxed, global) && !forbids(global, relaxed) && !forbids(local, relaxed);
    cudaStreamCaptureMode none = static_cast<cudaStreamCaptureMode>(7);
    right = right && cudaThreadExchangeStreamCaptureMode(&none) == cudaErrorInvalidValue;
    cudaGetLastError();
    return right;
}
