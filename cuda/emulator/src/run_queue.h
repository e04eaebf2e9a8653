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

class RunQueue {
  public:
    // Every thread can run.  The seed decides the priorities of this block.
    void begin(Order order, uint64_t seed, unsigned threads);

    void wake(unsigned warp, unsigned lanes);
    void stop(unsigned warp, unsigned lane);
    bool empty() const { return warps_ == 0; }

    // The number of the thread that goes next when thread `last` waits, has ended, or let others go first; never called
    // when empty.
    unsigned next(unsigned last) const;
    // Somebody else than `last` if anybody can run: for a thread that spins until others have done something.
    unsigned next_other(unsigned last);
    unsigned first() const;

  private:
    unsigned by_rank(unsigned lanes) const;
    unsigned after(unsigned warp_rank, unsigned lane_rank) const;
    unsigned thread(unsigned warp_rank, unsigned lane_rank) const { return warp_at_[warp_rank] * 32u + lane_at_[lane_rank]; }
    uint64_t random();

    // Masks are kept by rank, the place of a lane or warp in the order, so that one search serves every order.
    Order order_ = Order::forward;
    unsigned warps_ = 0;         // ranks of warps with a thread that can run
    unsigned lanes_[32] = {};    // by rank of the warp: ranks of lanes
    unsigned char warp_at_[32], rank_of_warp_[32], lane_at_[32], rank_of_lane_[32];
    uint64_t state_ = 1;
};

}  // namespace emulator
