#include "block.h"

#include <cstdio>

#include "device.h"

namespace emulator {

__thread Thread* running_thread = nullptr;
__thread BlockView* running_block = nullptr;
}  // namespace emulator
__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;
namespace emulator {

Block::Block(const Identities& identities, size_t place)
    : identities_(identities), place_(place), members_(new Member[threads_per_block]) {
    host_.adopt_system_thread();
}

void Block::set_shape(dim3 shape) {
    if (shape.x == threads.x && shape.y == threads.y && shape.z == threads.z && n_threads_) return;
    threads = shape;
    n_threads_ = shape.x * shape.y * shape.z;
    for (unsigned i = 0; i < n_threads_; i++) {
        Member& member = members_[i];
        member.index = {i % shape.x, i / shape.x % shape.y, i / shape.x / shape.y};
        member.lane = i % 32;
        member.number = i;
        if (detects_races && stacks_.size() <= i) stacks_.push_back(Stack::map(stacks_mapped_++));
    }
}

void Block::begin(uint64_t number, Order order, uint64_t seed) {
    const Configuration& configuration = grid_->launch.configuration;
    set_shape(configuration.block);
    blocks = configuration.grid;
    index = {static_cast<unsigned>(number % blocks.x), static_cast<unsigned>(number / blocks.x % blocks.y),
             static_cast<unsigned>(number / blocks.x / blocks.y)};
    order_ = order;
    alive_ = n_threads_;
    yields_ = 0;
    barrier_.arrived = barrier_.holding = barrier_.generation = 0;
    for (unsigned warp = 0; warp * 32 < n_threads_; warp++) {
        const unsigned rest = n_threads_ - warp * 32;
        warps_[warp].alive = rest >= 32 ? ~0u : (1u << rest) - 1;
        warps_[warp].at_barrier = warps_[warp].in_meeting = 0;
    }
    for (unsigned i = 0; i < n_threads_; i++) {
        members_[i].fiber.reset();
        members_[i].fenced = false;
        members_[i].last_atomic = nullptr;
    }
    if (detects_races) identify_threads(seed);
    copies_.begin(order, seed);
    named_.begin();
    queue_.begin(order, seed, n_threads_);
    dynamic_shared = shared_.begin(configuration.dynamic_shared);
}

void Block::identify_threads(uint64_t seed) {
    const size_t distinct = identities_.distinct(seed);
    for (unsigned i = 0; i < n_threads_; i++) {
        void* const identity = identities_.of(place_, i, distinct);
        members_[i].fiber.identify(identity);
        if (i >= distinct) continue;
        char name[64];  // what the race detector keeps of it; the kernel stands in its backtrace
        const uint3& thread = members_[i].index;
        const int length = std::snprintf(name, sizeof name, "block (%u,%u,%u) thread (%u,%u,%u)", index.x, index.y, index.z, thread.x, thread.y, thread.z);
        if (distinct < n_threads_) std::snprintf(name + length, sizeof name - static_cast<size_t>(length), " or %zu i on", distinct);
        Identities::name(identity, name);
    }
}

void Block::run(Grid& grid, uint64_t number, Order order, uint64_t seed) {
    grid_ = &grid;
    turn_++;
    begin(number, order, seed);
    running_block = this;
    blockIdx = index;
    blockDim = threads;
    gridDim = blocks;
    Member& first = members_[queue_.first()];
    start(first);
    make_running(first);
    publish(&turns_[turn_ % 2]);  // what the host did before the launch
    host_.switch_to(first.fiber);
    for (unsigned i = 0; alive_ && i < n_threads_; i++) {  // a fault has left threads where they were
        Member& member = members_[i];
        const bool on_a_stack = member.fiber.has_begun() && (warps_[i / 32].alive >> i % 32 & 1 || &member == running_thread);
        if (!detects_races && on_a_stack) stacks_.push_back(member.fiber.stack());
        member.fiber.forget();
    }
    running_thread = nullptr;
    running_block = nullptr;
}

void Block::end_of_grid() { observe(&turns_[(turn_ + 1) % 2]); }

void Block::make_running(Member& member) {
    running_thread = &member;
    threadIdx = member.index;
}

void Block::start(Member& fresh) {
    if (detects_races) {
        fresh.fiber.prepare(stacks_[fresh.number], run_threads);
        return;
    }
    if (stacks_.empty()) stacks_.push_back(Stack::map(stacks_mapped_++));
    fresh.fiber.prepare(stacks_.back(), run_threads);
    stacks_.pop_back();
}

void Block::run_threads() {
    Fiber::begun();
    Block& block = this_block();
    for (;;) {
        observe(&block.turns_[block.turn_ % 2]);
        block.launch().entry(block.launch().arguments);
        publish(&block.turns_[(block.turn_ + 1) % 2]);
        Member& ended = block.running();
        block.end(ended);
        if (block.queue_.empty()) block.leave(ended);
        Member& next = block.members_[block.queue_.next(ended.number)];
        make_running(next);
        if (!detects_races && !next.fiber.has_begun()) {
            ended.fiber.become(next.fiber);
            continue;
        }
        if (!next.fiber.has_begun()) block.start(next);
        if (!detects_races) block.stacks_.push_back(ended.fiber.stack());
        ended.fiber.end_in(next.fiber);
    }
}

void Block::leave(Member& ended) {
    if (alive_) report_deadlock();
    if (!detects_races) stacks_.push_back(ended.fiber.stack());
    ended.fiber.end_in(host_);
}

// Those who wait for all threads wait for the rest only.
void Block::end(Member& ended) {
    Warp& warp = warp_of(ended);
    yields_ = 0;
    alive_--;
    warp.alive &= ~(1u << ended.lane);
    queue_.stop(ended.number / 32, ended.lane);
    if (alive_ && barrier_.arrived == alive_) release_barrier();
    for (unsigned lane = 0; warp.in_meeting && lane < 32; lane++) {
        if (warp.in_meeting >> lane & 1) complete(ended.number / 32, lane);
    }
}

void Block::resume(unsigned number) {
    Member &mine = running(), &next = members_[number];
    if (!next.fiber.has_begun()) start(next);
    make_running(next);
    mine.fiber.switch_to(next.fiber);
}

void Block::wait() {
    if (queue_.empty()) report_deadlock();
    resume(queue_.next(running().number));
}

void Block::give_way() {
    if (order_ != Order::random) return;
    const unsigned next = queue_.first();
    if (next != running().number) resume(next);
}

void Block::yield() {
    constexpr uint64_t patience = uint64_t{1} << 26;
    if (++yields_ > patience) fail(cudaErrorLaunchTimeout, "spins: for %llu turns no thread of the block got anywhere", static_cast<unsigned long long>(patience));
    const unsigned next = queue_.next_other(running().number);
    if (next != running().number) resume(next);
}

}  // namespace emulator
