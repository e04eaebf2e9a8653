// What the device says about itself in one structure, and the settings of it that change nothing here.
#include <cstdio>
#include <cstring>

#include "device.h"
#include "errors.h"
#include "settings.h"

using emulator::checked;

static int attribute(cudaDeviceAttr which) {
    int value = 0;
    cudaDeviceGetAttribute(&value, which, 0);
    return value;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
        if (device != 0) return checked(cudaErrorInvalidDevice);
    if (!properties) return checked(cudaErrorInvalidValue);
    cudaDeviceProp& all = *properties;
    std::memset(&all, 0, sizeof all);
    std::snprintf(all.name, sizeof all.name, "CUDA emulator (limits of sm_%u)", emulator::settings().capability);
    size_t available;
    cudaMemGetInfo(&available, &all.totalGlobalMem);
    all.totalConstMem = static_cast<size_t>(attribute(cudaDevAttrTotalConstantMemory));
    all.sharedMemPerBlock = emulator::shared_without_opt_in;
    all.sharedMemPerBlockOptin = emulator::limits().shared_opt_in;
    all.sharedMemPerMultiprocessor = emulator::limits().shared_per_multiprocessor;
    all.reservedSharedMemPerBlock = static_cast<size_t>(attribute(cudaDevAttrReservedSharedMemoryPerBlock));
    all.regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
    all.regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock);
    all.warpSize = 32;
    all.maxThreadsPerBlock = emulator::threads_per_block;
    const cudaDeviceAttr block[] = {cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ};
    const cudaDeviceAttr grid[] = {cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ};
    for (int axis = 0; axis < 3; axis++) {
        all.maxThreadsDim[axis] = attribute(block[axis]);
        all.maxGridSize[axis] = attribute(grid[axis]);
    }
    all.major = attribute(cudaDevAttrComputeCapabilityMajor);
    all.minor = attribute(cudaDevAttrComputeCapabilityMinor);
    all.multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
    all.l2CacheSize = attribute(cudaDevAttrL2CacheSize);
    all.maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    all.maxBlocksPerMultiProcessor = emulator::limits().blocks_per_multiprocessor;
    all.clockRate = attribute(cudaDevAttrClockRate);
    all.memoryClockRate = all.clockRate;
    all.memoryBusWidth = 64;
    all.concurrentKernels = all.asyncEngineCount = 1;
    all.unifiedAddressing = all.managedMemory = all.concurrentManagedAccess = all.canMapHostMemory = all.integrated = 1;
    return checked(cudaSuccess);
}

cudaError_t cudaSetDeviceFlags(unsigned) { return checked(cudaSuccess); }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return checked(cudaSuccess); }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return checked(cudaSuccess); }
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    if (!value) return checked(cudaErrorInvalidValue);
    *value = limit == cudaLimitStackSize ? 1024 : size_t{8} << 20;
    return checked(cudaSuccess);
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
    if (!can) return checked(cudaErrorInvalidValue);
    *can = 0;
    return checked(cudaErrorInvalidDevice);  // there is one device
}
