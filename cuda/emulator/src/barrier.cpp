// __syncthreads and its kind, fences, traps and failed assertions.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "block.h"

namespace emulator {

namespace {

bool is_same(const Place& a, const Place& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

}  // namespace

BarrierCount Block::wait_at_barrier(const char* name, bool predicate, Place place) {
    Member& mine = running();
    const unsigned generation = barrier_.generation & 1;
    publish(&barrier_.clocks[generation]);
    if (barrier_.arrived == 0) {
        barrier_.name = name;
        barrier_.place = place;
    } else if (!is_same(place, barrier_.place)) {
        fail(cudaErrorLaunchFailure, "is at %s in %s:%d while others of its block are at %s in %s:%d: a barrier is one place for all", name,
             place.file, place.line, barrier_.name, barrier_.place.file, barrier_.place.line);
    }
    barrier_.holding += predicate;
    if (++barrier_.arrived == alive_) {
        release_barrier();
        give_way();
    } else {
        warp_of(mine).at_barrier |= 1u << mine.lane;
        queue_.stop(mine.number / 32, mine.lane);
        wait();
    }
    observe(&barrier_.clocks[generation]);
    return barrier_.counts[generation];
}

void Block::release_barrier() {
    barrier_.counts[barrier_.generation & 1] = {static_cast<int>(barrier_.holding), static_cast<int>(barrier_.arrived)};
    barrier_.arrived = barrier_.holding = 0;
    barrier_.generation++;
    yields_ = 0;
    for (unsigned warp = 0; warp * 32 < n_threads_; warp++) {
        queue_.wake(warp, warps_[warp].at_barrier);
        warps_[warp].at_barrier = 0;
    }
}

BarrierCount wait_at_barrier(const char* name, bool predicate, Place place) {
    return this_block().wait_at_barrier(name, predicate, place);
}

void yield() {
    if (running_block) this_block().yield();  // on the host there is nobody to let go first
}

void fence() {
    if (running_thread) {
        running_thread->fenced = true;
        if (running_thread->last_atomic) observe(running_thread->last_atomic);
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void trap(const char* reason) { this_block().fail(cudaErrorLaunchFailure, "executed %s", reason); }

}  // namespace emulator

// What assert() calls, in the place of the C library's: in a kernel it ends that, on the host the process, as ever.
extern "C" __attribute__((visibility("hidden"))) void __assert_fail(const char* condition, const char* file, unsigned line, const char* function) noexcept {
    if (emulator::running_block) emulator::this_block().fail(cudaErrorAssert, "assertion `%s` failed in %s:%u", condition, file, line);
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, condition);
    std::abort();
}
