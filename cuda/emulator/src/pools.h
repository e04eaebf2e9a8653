// What memory pools count.
#pragma once

#include "cuda_runtime.h"

namespace emulator {

// Memory is freed; the pool that it was taken from, if any, has it again.
void give_back_to_pool(void* memory);

}  // namespace emulator
