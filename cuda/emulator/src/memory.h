// What has been allocated.
#pragma once

#include "cuda_runtime.h"

namespace emulator {

// Whether the bytes can be copied from or to: memory of others is taken on trust, ours has an end.
bool fits(const void* memory, size_t bytes);
// By which call the memory was allocated; unregistered where it was by none.
cudaMemoryType type_of(const void* memory);
// Frees what was allocated, by a call for host memory or by another.
cudaError_t release(void* memory, bool of_host);

}  // namespace emulator
