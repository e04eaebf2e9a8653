#include "functions.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "cuda_runtime.h"
#include "device.h"
#include "errors.h"
#include "failures.h"

namespace emulator {
namespace {

std::mutex mutex;
std::map<const void*, size_t>& opted_in() {
    static auto* const limits = new std::map<const void*, size_t>;
    return *limits;
}

}  // namespace

size_t dynamic_shared_limit(const void* kernel) {
    std::lock_guard<std::mutex> lock(mutex);
    size_t limit = shared_without_opt_in;
    for (const auto& [each, bytes] : opted_in()) {
        if (!kernel || each == kernel) limit = std::max(limit, bytes);
    }
    return limit;
}

cudaError_t set_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    if (const cudaError_t failure = planted_failure("cudaFuncSetAttribute")) return checked(failure);
    if (!kernel) return checked(cudaErrorInvalidDeviceFunction);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return checked(value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || static_cast<size_t>(value) > limits().shared_opt_in) {
        return checked(cudaErrorInvalidValue);
    }
    std::lock_guard<std::mutex> lock(mutex);
    opted_in()[kernel] = static_cast<size_t>(value);
    return checked(cudaSuccess);
}

cudaError_t get_attributes(cudaFuncAttributes* attributes, const void* kernel) {
    if (const cudaError_t failure = planted_failure("cudaFuncGetAttributes")) return checked(failure);
    if (!attributes) return checked(cudaErrorInvalidValue);
    if (!kernel) return checked(cudaErrorInvalidDeviceFunction);
    *attributes = {};
    attributes->maxThreadsPerBlock = threads_per_block;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = static_cast<int>(limits().capability);
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_limit(kernel));
    return checked(cudaSuccess);
}

// By threads and dynamic shared memory alone: registers and what a kernel declares are not known here.
cudaError_t blocks_per_multiprocessor(int* blocks, const void* kernel, int threads, size_t dynamic_shared) {
    if (!blocks || threads < 1) return checked(cudaErrorInvalidValue);
    if (!kernel) return checked(cudaErrorInvalidDeviceFunction);
    const Limits& device = limits();
    const int warps = (threads + 31) / 32;
    int fit = std::min(device.blocks_per_multiprocessor, device.threads_per_multiprocessor / (32 * warps));
    const size_t reserved = device.capability >= 80 ? 1024 : 0;
    if (dynamic_shared + reserved) fit = std::min(fit, static_cast<int>(device.shared_per_multiprocessor / (dynamic_shared + reserved)));
    *blocks = threads > static_cast<int>(threads_per_block) || dynamic_shared > dynamic_shared_limit(kernel) ? 0 : fit;
    return checked(cudaSuccess);
}

// The block that leaves the fewest of a multiprocessor's threads idle, the largest of those.
cudaError_t fullest_block(int* grid, int* block, const void* kernel, size_t dynamic_shared, int limit) {
    if (!grid || !block) return checked(cudaErrorInvalidValue);
    int most = -1;
    for (int threads = limit > 0 ? std::min(limit, static_cast<int>(threads_per_block)) : static_cast<int>(threads_per_block); threads > 0; threads -= 32) {
        int blocks = 0;
        if (const cudaError_t error = blocks_per_multiprocessor(&blocks, kernel, threads, dynamic_shared)) return error;
        if (blocks * threads <= most) continue;
        most = blocks * threads;
        *block = threads;
        *grid = blocks * multiprocessors();
    }
    return checked(cudaSuccess);
}

}  // namespace emulator
