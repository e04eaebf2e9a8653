// Barriers of a block, memory fences, and what else makes a thread wait.
#pragma once

#include "thread.h"

namespace emulator {

// Waits for every thread of the block that has not returned; gives the number of them whose predicate held, and theirs.
struct BarrierCount {
    int holding, threads;
};
BarrierCount wait_at_barrier(const char* name, bool predicate, Place place);

// bar.sync and bar.arrive of PTX: barrier `id` (0 to 15) lets those go on that wait at it once `count` threads, a multiple of 32,
// have come, from any place.  Those that arrive do not wait.
void named_barrier(unsigned id, unsigned count, bool waits, Place place);
inline void bar_sync(unsigned id, unsigned count, EMULATOR_HERE) { named_barrier(id, count, true, place); }
inline void bar_arrive(unsigned id, unsigned count, EMULATOR_HERE) { named_barrier(id, count, false, place); }
void bar_sync(unsigned id, EMULATOR_HERE);  // of all threads of the block

void fence();                                // orders this thread's memory accesses as seen by all
void yield();                                // lets other threads of the block go first
[[noreturn]] void trap(const char* reason);  // ends the kernel with cudaErrorLaunchFailure

}  // namespace emulator

inline void __syncthreads(EMULATOR_HERE) {
    emulator::wait_at_barrier("__syncthreads", false, place);
}
inline int __syncthreads_count(int predicate, EMULATOR_HERE) {
    return emulator::wait_at_barrier("__syncthreads_count", predicate != 0, place).holding;
}
inline int __syncthreads_and(int predicate, EMULATOR_HERE) {
    const auto count = emulator::wait_at_barrier("__syncthreads_and", predicate != 0, place);
    return count.holding == count.threads;
}
inline int __syncthreads_or(int predicate, EMULATOR_HERE) {
    return emulator::wait_at_barrier("__syncthreads_or", predicate != 0, place).holding != 0;
}

inline void __threadfence() { emulator::fence(); }
inline void __threadfence_block() { emulator::fence(); }
inline void __threadfence_system() { emulator::fence(); }
inline void __nanosleep(unsigned) { emulator::yield(); }
[[noreturn]] inline void __trap() { emulator::trap("__trap()"); }
