// Streams and events.
#pragma once

#include "cuda_runtime.h"

namespace emulator {

// A stream that exists: the default one, the legacy and per-thread ones, or one that was created.
bool is_stream(cudaStream_t stream);
// Not one that was created as non-blocking.
bool waits_for_default_stream(cudaStream_t stream);

}  // namespace emulator
