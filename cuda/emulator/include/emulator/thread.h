// The running thread and its block, as a kernel sees them.
#pragma once

#include "vector_types.h"

namespace emulator {

struct Thread {
    uint3 index;
    unsigned lane;        // within its warp
    unsigned number;      // within its block: x + y * width + z * width * height
    // For the race detector, which knows no fences: what the thread has done in this block.
    bool fenced = false;               // has executed a memory fence
    void* last_atomic = nullptr;       // where its last atomic was
};

struct BlockView {
    uint3 index;
    dim3 threads, blocks;  // blockDim, gridDim
    unsigned char* dynamic_shared = nullptr;
};

// A block stays on one system thread from start to end, so these never change under a compiler that keeps their address.
// initial-exec: one instruction to reach them, also in a library that was opened later; they are small.  __thread, for
// before it reads a thread_local of another file a compiler asks whether it has been constructed.
extern __thread Thread* running_thread __attribute__((tls_model("initial-exec")));
extern __thread BlockView* running_block __attribute__((tls_model("initial-exec")));

}  // namespace emulator

// What CUDA predefines.  Variables, not macros: a program may have a `dim3 gridDim` of its own.  Kernels must not write to
// them; they are not const, for a compiler would then keep their values across a switch to another thread.
#define EMULATOR_PREDEFINED extern __thread __attribute__((tls_model("initial-exec")))
EMULATOR_PREDEFINED uint3 threadIdx, blockIdx;
EMULATOR_PREDEFINED dim3 blockDim, gridDim;
#undef EMULATOR_PREDEFINED
constexpr int warpSize = 32;
