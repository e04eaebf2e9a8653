// Which threads of a block can run, and which of them goes next.
#pragma once

#include <cstdint>

namespace emulator {

enum class Order {
    forward,  // by rising number, round and round
    reverse,  // by falling number
    random    // warps and lanes have random priorities for the length of a block: the highest that can run always does.
              // (A fresh random choice at each step would keep the threads nearly in step, and so hide mistakes.)
};

// What every change of threads asks stands here, to be compiled into it.
class RunQueue {
  public:
    // Every thread can run.  The seed decides the priorities of this block.
    void begin(Order order, uint64_t seed, unsigned threads);

    void wake(unsigned warp, unsigned lanes);
    void stop(unsigned warp, unsigned lane) {
        const unsigned rank = rank_of_warp_[warp];
        lanes_[rank] &= ~(1u << rank_of_lane_[lane]);
        if (!lanes_[rank]) warps_ &= ~(1u << rank);
    }
    bool empty() const { return warps_ == 0; }

    // The number of the thread that goes next when thread `last` waits, has ended, or let others go first; never called
    // when empty.
    unsigned next(unsigned last) const {
        return order_ == Order::random ? first() : after(rank_of_warp_[last / 32], rank_of_lane_[last % 32]);
    }
    // Somebody else than `last` if anybody can run: for a thread that spins until others have done something.
    unsigned next_other(unsigned last);
    unsigned first() const {
        const unsigned warp = lowest(warps_);
        return thread(warp, lowest(lanes_[warp]));
    }

  private:
    unsigned by_rank(unsigned lanes) const;
    unsigned after(unsigned warp_rank, unsigned lane_rank) const {
        if (const unsigned later = lanes_[warp_rank] & above(lane_rank)) return thread(warp_rank, lowest(later));
        const unsigned later_warps = warps_ & above(warp_rank);
        const unsigned next_warp = lowest(later_warps ? later_warps : warps_);
        return thread(next_warp, lowest(lanes_[next_warp]));
    }
    unsigned thread(unsigned warp_rank, unsigned lane_rank) const { return warp_at_[warp_rank] * 32u + lane_at_[lane_rank]; }
    uint64_t random();
    static unsigned above(unsigned bit) { return ~1u << bit; }
    static unsigned lowest(unsigned mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }

    // Masks are kept by rank, the place of a lane or warp in the order, so that one search serves every order.
    Order order_ = Order::forward;
    unsigned warps_ = 0;         // ranks of warps with a thread that can run
    unsigned lanes_[32] = {};    // by rank of the warp: ranks of lanes
    unsigned char warp_at_[32], rank_of_warp_[32], lane_at_[32], rank_of_lane_[32];
    uint64_t state_ = 1;
};

}  // namespace emulator
