// Errors as CUDA keeps them: the last one of each host thread, which cudaGetLastError takes away, and that of a kernel that
// failed, which stays and is what every later call returns until cudaDeviceReset.
#pragma once

#include "cuda_runtime.h"

namespace emulator {

// What a call of the API returns: the error of a failed kernel if there was one, else its own, which it leaves behind.
cudaError_t checked(cudaError_t own);
// Leaves an error of a launch's arguments behind, with a line that says what was wrong; returns it.
__attribute__((format(printf, 2, 3))) cudaError_t refuse_launch(cudaError_t error, const char* format, ...);
// A kernel did what it must not: nothing works any more.
void kernel_failed(cudaError_t error);

}  // namespace emulator
