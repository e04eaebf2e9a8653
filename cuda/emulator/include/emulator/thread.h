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
// initial-exec: one instruction to reach them, also in a library that was opened later; they are small.
extern thread_local Thread* running_thread __attribute__((tls_model("initial-exec")));
extern thread_local BlockView* running_block __attribute__((tls_model("initial-exec")));

inline const uint3& thread_index() { return running_thread->index; }
inline const uint3& block_index() { return running_block->index; }
inline const dim3& block_size() { return running_block->threads; }
inline const dim3& grid_size() { return running_block->blocks; }

}  // namespace emulator

#define threadIdx (::emulator::thread_index())
#define blockIdx (::emulator::block_index())
#define blockDim (::emulator::block_size())
#define gridDim (::emulator::grid_size())
constexpr int warpSize = 32;
