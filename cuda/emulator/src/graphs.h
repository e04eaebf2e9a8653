// Graphs: what was asked of a stream while it was captured, done as often as it is launched.
#pragma once

#include <functional>

#include "cuda_runtime.h"

namespace emulator {

// Adds to what the stream's capture records; false where there is none under way, and the caller does it now.
bool recorded(cudaStream_t stream, std::function<cudaError_t()> work);
// Gives memory to the graph that is captured: it is freed with it.  False where none is.
bool kept_by_graph(cudaStream_t stream, void* memory);
bool is_kept_by_graph(cudaStream_t stream, void* memory);
// What waits for work that is only recorded breaks the capture, and is an error; null is every stream.
cudaError_t waiting_for(cudaStream_t stream);
// What may wait for other streams (taking memory outright, making a pool) breaks the captures that forbid it to this thread,
// and is an error then: those not begun as relaxed by this thread, and the global ones of others, unless the thread's own
// mode is more relaxed (cudaThreadExchangeStreamCaptureMode).
cudaError_t unsafe_call();

}  // namespace emulator
