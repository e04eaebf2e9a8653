#include "device.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "cuda_runtime.h"
#include "errors.h"
#include "failures.h"
#include "settings.h"

namespace emulator {

// CUDA C++ programming guide, "Technical specifications per compute capability"; multiprocessors are those of the V100, T4,
// A100, RTX 3090, RTX 4090, H100, B200 and RTX 5090.
constexpr Limits all_limits[] = {
    {70, 96 << 10, 96 << 10, 2048, 32, 80},     {75, 64 << 10, 64 << 10, 1024, 16, 40},
    {80, 163 << 10, 164 << 10, 2048, 32, 108},  {86, 99 << 10, 100 << 10, 1536, 16, 82},
    {89, 99 << 10, 100 << 10, 1536, 24, 128},   {90, 227 << 10, 228 << 10, 2048, 32, 132},
    {100, 227 << 10, 228 << 10, 2048, 32, 148}, {120, 99 << 10, 100 << 10, 1536, 24, 170},
};

const Limits* limits_of(unsigned capability) {
    for (const Limits& each : all_limits) {
        if (each.capability == capability) return &each;
    }
    return nullptr;
}

const Limits& limits() {
    static const Limits& mine = *limits_of(settings().capability);
    return mine;
}

int multiprocessors() {
    const auto asked = static_cast<int>(settings().multiprocessors);
    return asked ? asked : limits().multiprocessors;
}

namespace {

bool attribute_of(cudaDeviceAttr attribute, int& value) {
    const Limits& device = limits();
    switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock:
        case cudaDevAttrMaxBlockDimX:
        case cudaDevAttrMaxBlockDimY: value = threads_per_block; return true;
        case cudaDevAttrMaxBlockDimZ: value = 64; return true;
        case cudaDevAttrMaxGridDimX: value = INT_MAX; return true;
        case cudaDevAttrMaxGridDimY:
        case cudaDevAttrMaxGridDimZ: value = 65535; return true;
        case cudaDevAttrMaxSharedMemoryPerBlock: value = shared_without_opt_in; return true;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: value = static_cast<int>(device.shared_opt_in); return true;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: value = static_cast<int>(device.shared_per_multiprocessor); return true;
        case cudaDevAttrReservedSharedMemoryPerBlock: value = device.capability >= 80 ? 1024 : 0; return true;
        case cudaDevAttrTotalConstantMemory: value = 64 << 10; return true;
        case cudaDevAttrWarpSize: value = 32; return true;
        case cudaDevAttrMaxRegistersPerBlock:
        case cudaDevAttrMaxRegistersPerMultiprocessor: value = 64 << 10; return true;
        case cudaDevAttrClockRate: value = 1000000; return true;
        case cudaDevAttrMultiProcessorCount: value = multiprocessors(); return true;
        case cudaDevAttrL2CacheSize: value = 40 << 20; return true;
        case cudaDevAttrMaxThreadsPerMultiProcessor: value = device.threads_per_multiprocessor; return true;
        case cudaDevAttrComputeCapabilityMajor: value = static_cast<int>(device.capability / 10); return true;
        case cudaDevAttrComputeCapabilityMinor: value = static_cast<int>(device.capability % 10); return true;
        case cudaDevAttrManagedMemory: value = 1; return true;
        case cudaDevAttrCooperativeLaunch: value = 0; return true;
        case cudaDevAttrMemoryPoolsSupported: value = 1; return true;
    }
    return false;
}

}  // namespace

long long clock() {
#if defined(__x86_64__)
    return static_cast<long long>(__builtin_ia32_rdtsc());
#else
    long long ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaGetDeviceCount(int* count) {
    if (!count) return checked(cudaErrorInvalidValue);
    *count = 1;
    return checked(cudaSuccess);
}
cudaError_t cudaGetDevice(int* device) {
    if (const cudaError_t failure = planted_failure("cudaGetDevice")) return checked(failure);
    if (!device) return checked(cudaErrorInvalidValue);
    *device = 0;
    return checked(cudaSuccess);
}
cudaError_t cudaSetDevice(int device) { return checked(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (const cudaError_t failure = planted_failure("cudaDeviceGetAttribute")) return checked(failure);
    if (device != 0) return checked(cudaErrorInvalidDevice);
    return checked(value && attribute_of(attribute, *value) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    if (!version) return checked(cudaErrorInvalidValue);
    *version = 12090;
    return checked(cudaSuccess);
}
cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
    if (!available || !total) return checked(cudaErrorInvalidValue);
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    *total = page * static_cast<size_t>(sysconf(_SC_PHYS_PAGES));
    *available = page * static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES));
    return checked(cudaSuccess);
}
