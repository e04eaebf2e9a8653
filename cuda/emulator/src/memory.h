// What has been allocated.
#pragma once

#include "cuda_runtime.h"

namespace emulator {

// Whether the bytes can be copied from or to: memory of others is taken on trust, ours has an end.
bool fits(const void* memory, size_t bytes);
// By which call the memory was allocated; unregistered where it was by none.
cudaMemoryType type_of(const void* memory);

}  // namespace emulator
