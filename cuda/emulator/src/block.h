// One block of threads at work on one system thread.
#pragma once

#include <memory>
#include <vector>

#include "cuda_runtime.h"
#include "async_copies.h"
#include "fiber.h"
#include "identities.h"
#include "named_barriers.h"
#include "run_queue.h"
#include "shared_memory.h"

namespace emulator {

// What all blocks of a launch share.
struct Grid {
    explicit Grid(const Launch& launch_) : launch(launch_) {}
    bool failed() const { return __atomic_load_n(&failed_, __ATOMIC_RELAXED); }
    bool fail() { return !__atomic_exchange_n(&failed_, true, __ATOMIC_RELAXED); }  // true the first time
    const Launch& launch;

  private:
    bool failed_ = false;
};

// A thread as the runtime sees it: one cache line, for a change of threads reads that of the next.
struct alignas(64) Member : Thread {
    Fiber fiber;
};

// What a thread that cannot go on waits for.
struct Waiting {
    const char* name;
    Place place;
    unsigned mask;
    bool in_meeting;
    bool operator==(const Waiting& other) const {
        return name == other.name && place.line == other.place.line && mask == other.mask && in_meeting == other.in_meeting;
    }
};

struct Warp {
    unsigned alive = 0, at_barrier = 0, in_meeting = 0;  // lanes
    Meeting* meetings[32] = {};
    char clocks[32][8] = {};  // of the lane that came first to a __syncwarp, used in turn
    unsigned turns[32] = {};
};

// Threads switch only where they wait.  One that never waits costs a call: the next begins where it ended, on its stack.
class Block : public BlockView {
  public:
    Block(const Identities& identities, size_t place);

    // Runs block `number` of the grid to its end, or to its first fault.
    void run(Grid& grid, uint64_t number, Order order, uint64_t seed);
    // What the blocks that have run here did happens before what the host does now.
    void end_of_grid();

    // Called by the running thread.
    BarrierCount wait_at_barrier(const char* name, bool predicate, Place place);
    void named_barrier(unsigned id, unsigned count, bool waits, Place place);
    void meet(Meeting& mine);
    void sync_warp(Meeting& mine);
    void yield();
    [[noreturn]] void fail(cudaError_t error, const char* what, ...) __attribute__((format(printf, 3, 4)));

    SharedMemory& shared() { return shared_; }
    AsyncCopies& copies() { return copies_; }
    const Launch& launch() const { return grid_->launch; }
    Member& running() { return static_cast<Member&>(*running_thread); }
    Warp& warp_of(const Thread& thread) { return warps_[thread.number / 32]; }

  private:
    void set_shape(dim3 threads);
    void begin(uint64_t number, Order order, uint64_t seed);
    void identify_threads(uint64_t seed);
    static void run_threads();
    static void make_running(Member& member);
    void end(Member& ended);
    [[noreturn]] void leave(Member& ended);
    void resume(unsigned number);
    void start(Member& fresh);
    void wait();        // the running thread has left the queue
    void give_way();    // it has not, but others may have the right of way
    void release_barrier();
    bool complete(unsigned warp, unsigned lane);
    Waiting what_it_waits_for(const Member& member) const;
    [[noreturn]] void report_deadlock();

    Grid* grid_ = nullptr;
    unsigned n_threads_ = 0, alive_ = 0;
    const Identities& identities_;
    const size_t place_;
    std::unique_ptr<Member[]> members_;
    Warp warps_[32];
    RunQueue queue_;
    Order order_ = Order::forward;
    Fiber host_;
    std::vector<Stack> stacks_;        // by thread number under the race detector, otherwise those nobody is on
    size_t stacks_mapped_ = 0;
    SharedMemory shared_;
    AsyncCopies copies_;
    NamedBarriers named_;
    uint64_t yields_ = 0;              // since anything else has happened
    char turns_[2] = {};               // clocks that order the blocks that run here, one after the other
    unsigned turn_ = 0;

    struct {
        unsigned arrived = 0, holding = 0, generation = 0;
        const char* name = "";
        Place place{"", 0};
        BarrierCount counts[2];
        char clocks[2] = {};
    } barrier_;
};

inline Block& this_block() { return static_cast<Block&>(*running_block); }

// "kernel `name`, block (1,0,0) of (8,1,1)", and with a thread ", thread (3,0,0) of (128,1,1)".
void describe(const Block& block, const Thread* thread, char* text, size_t size);

}  // namespace emulator
