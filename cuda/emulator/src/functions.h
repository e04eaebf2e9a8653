// What cudaFuncSetAttribute has set for kernels.
#pragma once

#include <cstddef>

namespace emulator {

// Bytes of dynamic shared memory the kernel may ask for.  A null kernel is an instance that only a call's arguments choose:
// nobody can have named it, so what was set for any kernel holds.
size_t dynamic_shared_limit(const void* kernel);

}  // namespace emulator
