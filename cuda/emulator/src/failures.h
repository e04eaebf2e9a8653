// Calls of the API that fail because the environment says so (ASSAYER_EMULATOR_FAIL): what a library does then can be tested.
#pragma once

#include "cuda_runtime.h"

namespace emulator {

#define EMULATOR_CALLS_THAT_CAN_FAIL \
    "cudaDeviceGetAttribute, cudaFree, cudaFreeAsync, cudaFuncGetAttributes, cudaFuncSetAttribute, cudaGetDevice, cudaGraphDestroy, " \
    "cudaGraphInstantiate, cudaMalloc, cudaMallocFromPoolAsync, cudaMemPoolCreate, cudaMemPoolSetAttribute, cudaMemPoolTrimTo"

bool can_fail(const char* call);
// Whether whoever loaded the library has device memory refused (assayer_emulator_refuse_memory).
bool memory_is_refused();
// What this call is to return in place of doing its work; cudaSuccess where it is to do it.
cudaError_t planted_failure(const char* call);

}  // namespace emulator
