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
    const unsigned needed = mine.mask & warp.alive;
    if ((warp.in_meeting & needed) == needed && complete(me.number / 32, me.lane)) {
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

// The only collective that orders memory.  The lanes of one meeting share a clock: not those of the next one, which some
// reach while others have not left this one, and not those who meet by another mask.
void Block::sync_warp(Meeting& mine) {
    if (!detects_races) return meet(mine);
    const unsigned lane = running().lane;
    Warp& warp = warp_of(running());
    for (unsigned rest = warp.in_meeting & mine.mask; rest && !mine.clock; rest &= rest - 1) {
        const Meeting& other = *warp.meetings[__builtin_ctz(rest)];
        if (other.mask == mine.mask) mine.clock = other.clock;
    }
    if (!mine.clock) mine.clock = &warp.clocks[lane][warp.turns[lane]++ % sizeof warp.clocks[lane]];
    publish(mine.clock);
    meet(mine);
    observe(mine.clock);
}

void meet(Meeting& mine, Meeting::Resolve resolve) {
    mine.resolve = resolve;
    this_block().meet(mine);
}

void sync_warp(unsigned mask, Place place) {
    Meeting mine{"__syncwarp", mask, place};
    this_block().sync_warp(mine);
}

}  // namespace emulator
