#include "run_queue.h"

namespace emulator {

uint64_t RunQueue::random() {  // xorshift64*
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Dull >> 32;
}

void RunQueue::begin(Order order, uint64_t seed, unsigned threads) {
    const unsigned warps = (threads + 31) / 32;
    order_ = order;
    state_ = seed | 1;
    const auto arrange = [&](unsigned char* at, unsigned char* rank_of, unsigned count) {
        for (unsigned i = 0; i < count; i++) at[i] = static_cast<unsigned char>(order == Order::reverse ? count - 1 - i : i);
        for (unsigned i = count; order == Order::random && i > 1; i--) {
            const unsigned other = static_cast<unsigned>(random() % i);
            const unsigned char swapped = at[i - 1];
            at[i - 1] = at[other];
            at[other] = swapped;
        }
        for (unsigned i = 0; i < count; i++) rank_of[at[i]] = static_cast<unsigned char>(i);
    };
    arrange(warp_at_, rank_of_warp_, warps);
    arrange(lane_at_, rank_of_lane_, 32);
    warps_ = 0;
    for (unsigned& lanes : lanes_) lanes = 0;
    for (unsigned warp = 0; warp < warps; warp++) {
        const unsigned rest = threads - warp * 32;
        wake(warp, rest >= 32 ? ~0u : (1u << rest) - 1);
    }
}

unsigned RunQueue::by_rank(unsigned lanes) const {
    if (order_ == Order::forward || lanes == ~0u) return lanes;
    unsigned ranks = 0;
    for (; lanes; lanes &= lanes - 1) ranks |= 1u << rank_of_lane_[lowest(lanes)];
    return ranks;
}

void RunQueue::wake(unsigned warp, unsigned lanes) {
    if (!lanes) return;
    const unsigned rank = rank_of_warp_[warp];
    lanes_[rank] |= by_rank(lanes);
    warps_ |= 1u << rank;
}

unsigned RunQueue::next_other(unsigned last) {
    if (order_ != Order::random) return after(rank_of_warp_[last / 32], rank_of_lane_[last % 32]);
    return after(static_cast<unsigned>(random() % 32), static_cast<unsigned>(random() % 32));
}

}  // namespace emulator
