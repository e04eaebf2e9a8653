// The default stream's work, done as late as CUDA allows where ASSAYER_EMULATOR_DEFAULT_STREAM=late says so.
#pragma once

#include <functional>

#include "cuda_runtime.h"

namespace emulator {

// Keeps the work for later where the stream is the default one, done late; false where the caller does it now.
bool postponed(cudaStream_t stream, std::function<void()> work);
// Does what was postponed and comes before whatever is asked of the stream next: nothing, of a stream that does not wait
// for the default one (cudaStreamNonBlocking).
void catch_up(cudaStream_t stream);

}  // namespace emulator
