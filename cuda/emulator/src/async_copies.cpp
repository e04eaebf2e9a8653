// cp.async, its groups and its waits.
#include "async_copies.h"

#include "block.h"
#include "device.h"
#include "settings.h"

namespace emulator {

void AsyncCopies::begin(Order order, uint64_t seed) {
    order_ = order;
    state_ = seed | 1;
    if (!used_) return;
    used_ = false;
    for (unsigned i = 0; i < threads_per_block; i++) {
        threads_[i].under_way.clear();
        threads_[i].groups = 0;
    }
}

AsyncCopies::OfThread& AsyncCopies::of(unsigned thread) {
    if (!threads_) threads_.reset(new OfThread[threads_per_block]);
    used_ = true;
    return threads_[thread];
}

bool AsyncCopies::defer(unsigned thread, const AsyncCopy& copy) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;  // Knuth's linear congruence; its upper bits are random
    if (order_ == Order::forward || (order_ == Order::random && state_ >> 63)) return false;
    OfThread& mine = of(thread);
    mine.under_way.push_back({copy, mine.groups});
    return true;
}

void AsyncCopies::commit(unsigned thread) { of(thread).groups++; }

bool AsyncCopies::take(unsigned thread, unsigned pending, AsyncCopy& copy) {
    OfThread& mine = of(thread);
    if (mine.under_way.empty() || mine.under_way.front().group + pending >= mine.groups) return false;
    copy = mine.under_way.front().copy;
    mine.under_way.pop_front();
    return true;
}

bool defer(const AsyncCopy& copy) { return this_block().copies().defer(running_thread->number, copy); }
bool fills_memory() { return settings().fill; }
void commit_copies() { this_block().copies().commit(running_thread->number); }
bool take_copy(unsigned pending, AsyncCopy& copy) { return this_block().copies().take(running_thread->number, pending, copy); }

}  // namespace emulator
