// bar.sync and bar.arrive with a number and a count.
#include "named_barriers.h"

#include <cstdio>

#include "block.h"
#include "device.h"

namespace emulator {

void NamedBarriers::begin() {
    if (!used) return;
    used = false;
    for (Barrier& each : all) each = Barrier();
}

const NamedBarriers::Barrier* NamedBarriers::of(const Thread& thread) const {
    for (const Barrier& each : all) {
        if (used && each.waiting[thread.number / 32] >> thread.lane & 1) return &each;
    }
    return nullptr;
}

void Block::named_barrier(unsigned id, unsigned count, bool waits, Place place) {
    const char* const name = waits ? "bar.sync" : "bar.arrive";
    if (id >= NamedBarriers::barriers || count % 32 || count == 0 || count > threads_per_block) {
        fail(cudaErrorLaunchFailure, "calls %s %u, %u in %s:%d: expected a barrier below %u and a count that is a multiple of 32, up to %u", name, id,
             count, place.file, place.line, NamedBarriers::barriers, threads_per_block);
    }
    if (!named_.places) named_.places.reset(new Place[threads_per_block]());
    named_.used = true;
    NamedBarriers::Barrier& barrier = named_.all[id];
    Member& mine = running();
    const unsigned generation = barrier.generation & 1;
    publish(&barrier.clocks[generation]);
    if (barrier.arrived == 0) {
        barrier.count = count;
        std::snprintf(barrier.name, sizeof barrier.name, "bar.sync %u, %u", id, count);
    } else if (barrier.count != count) {
        fail(cudaErrorLaunchFailure, "calls %s %u, %u in %s:%d while others of its block wait there for %u threads", name, id, count, place.file,
             place.line, barrier.count);
    }
    if (++barrier.arrived == count) {
        barrier.arrived = 0;
        barrier.generation++;
        yields_ = 0;
        for (unsigned warp = 0; warp * 32 < n_threads_; warp++) {
            queue_.wake(warp, barrier.waiting[warp]);
            barrier.waiting[warp] = 0;
        }
        give_way();
    } else if (waits) {
        named_.places[mine.number] = place;
        barrier.waiting[mine.number / 32] |= 1u << mine.lane;
        queue_.stop(mine.number / 32, mine.lane);
        wait();
    }
    if (waits) observe(&barrier.clocks[generation]);
}

void named_barrier(unsigned id, unsigned count, bool waits, Place place) { this_block().named_barrier(id, count, waits, place); }

void bar_sync(unsigned id, Place place) {
    const Block& block = this_block();
    if (id == 0) wait_at_barrier("bar.sync 0", false, place);
    else named_barrier(id, (block.threads.x * block.threads.y * block.threads.z + 31) / 32 * 32, true, place);
}

}  // namespace emulator
