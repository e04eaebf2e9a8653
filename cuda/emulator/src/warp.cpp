// Lanes that meet by mask.
#include "block.h"

namespace emulator {

void Block::meet(Meeting& mine) {
    Member& me = running();
    Warp& warp = warp_of(me);
    const unsigned bit = 1u << me.lane;
    if (!(mine.mask & bit)) {
        fail(cudaErrorLaunchFailure, "calls %s in %s:%d with mask 0x%08x, which leaves out its own lane %u", mine.name, mine.place.file,
             mine.place.line, mine.mask, me.lane);
    }
    warp.meetings[me.lane] = &mine;
    warp.in_meeting |= bit;
    if (complete(me.number / 32, me.lane)) {
        give_way();
    } else {
        queue_.stop(me.number / 32, me.lane);
        wait();
    }
}

// Whether all that the lane waits for are here; if so, they go on.  Lanes whose masks differ do not meet: one may have to
// come back with another mask first, and if it never does the deadlock's report names the masks.
bool Block::complete(unsigned number, unsigned lane) {
    Warp& warp = warps_[number];
    const Meeting& mine = *warp.meetings[lane];
    const unsigned needed = mine.mask & warp.alive;
    if ((warp.in_meeting & needed) != needed) return false;
    for (unsigned rest = needed; rest; rest &= rest - 1) {
        const Meeting& other = *warp.meetings[__builtin_ctz(rest)];
        if (other.mask == mine.mask && other.resolve == mine.resolve) continue;
        if (other.mask == mine.mask) {
            fail(cudaErrorLaunchFailure, "calls %s in %s:%d while lane %d, with the same mask 0x%08x, calls %s in %s:%d", mine.name,
                 mine.place.file, mine.place.line, __builtin_ctz(rest), mine.mask, other.name, other.place.file, other.place.line);
        }
        if (other.mask >> lane & 1) {
            fail(cudaErrorLaunchFailure, "calls %s in %s:%d with mask 0x%08x while lane %d waits for it with mask 0x%08x in %s:%d", mine.name,
                 mine.place.file, mine.place.line, mine.mask, __builtin_ctz(rest), other.mask, other.place.file, other.place.line);
        }
        return false;
    }
    if (mine.resolve) mine.resolve(warp.meetings, needed);
    warp.in_meeting &= ~needed;
    queue_.wake(number, needed);
    return true;
}

void meet(Meeting& mine, Meeting::Resolve resolve) {
    mine.resolve = resolve;
    this_block().meet(mine);
}

void sync_warp(unsigned mask, Place place) {
    Block& block = this_block();
    char* const clock = &block.warp_of(block.running()).clocks[mask % Warp::clock_count];
    publish(clock);
    Meeting mine{"__syncwarp", mask, place};
    block.meet(mine);
    observe(clock);
}

}  // namespace emulator
