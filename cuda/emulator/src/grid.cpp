// A launch: its arguments checked as CUDA checks them, its blocks shared out among system threads.
#include <atomic>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "block.h"
#include "death.h"
#include "default_stream.h"
#include "device.h"
#include "device_memory.h"
#include "errors.h"
#include "functions.h"
#include "settings.h"
#include "streams.h"

namespace emulator {
namespace {

// Blocks in the order of the schedule; taken one by one.
class Blocks {
  public:
    Blocks(uint64_t count, Order order, uint64_t seed) : count_(count), order_(order), seed_(seed) {
        // Multiples of a number that shares no factor with the count visit every block once.
        step_ = count > 2 && order == Order::random ? (seed * 0x9E3779B97F4A7C15ull) % count | 1 : 1;
        while (std::gcd(step_, count_) != 1) step_++;
    }
    bool take(uint64_t& block) {
        const uint64_t turn = __atomic_fetch_add(&taken_, 1, __ATOMIC_RELAXED);
        if (turn >= count_) return false;
        __extension__ using Wide = unsigned __int128;
        switch (order_) {
            case Order::forward: block = turn; break;
            case Order::reverse: block = count_ - 1 - turn; break;
            case Order::random: block = static_cast<uint64_t>(static_cast<Wide>(turn + seed_ % count_) * step_ % count_); break;
        }
        return true;
    }
    // Numbers that depend on the schedule's seed and the block alone, not on who takes it when.
    uint64_t seed_of(uint64_t block) const {
        uint64_t mixed = seed_ * 0x9E3779B97F4A7C15ull + block * 0xBF58476D1CE4E5B9ull + 0x94D049BB133111EBull;
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9ull;
        return mixed ^ mixed >> 27;
    }
    uint64_t count() const { return count_; }

  private:
    uint64_t count_, taken_ = 0, step_ = 1;
    Order order_;
    uint64_t seed_;
};

// Where blocks run on one system thread.  Under the race detector there are several places: blocks at one place are
// ordered one after the other, those at different places are not, and which block comes where is a matter of chance.
class Worker {
  public:
    void work(Grid& grid, Blocks& blocks) {
        const dim3 shape = grid.launch.configuration.block;
        const size_t threads = size_t{shape.x} * shape.y * shape.z, places = detects_races ? Identities::places_for(threads) : 1;
        while (places_.size() < places) places_.push_back(std::make_unique<Block>(identities_, places_.size()));
        if (detects_races) identities_.prepare(threads, places);
        for (uint64_t block = 0; !grid.failed() && blocks.take(block);) {
            const uint64_t seed = blocks.seed_of(block);
            places_[(seed >> 32) % places]->run(grid, block, settings().order, seed);
        }
        if (detects_races && grid.failed()) identities_.renew();
        for (const auto& place : places_) place->end_of_grid();
    }

  private:
    Identities identities_;
    std::vector<std::unique_ptr<Block>> places_;
};

// The workers of system threads that have ended, for those that begin: a worker's stacks are many mappings, of which a process
// has 65,530.  None is ever destroyed: stacks may be in use at exit.
class IdleWorkers {
  public:
    Worker& take() {
        std::lock_guard<std::mutex> lock(mutex_);
        if (workers_.empty()) return *new Worker;
        Worker& found = *workers_.back();
        workers_.pop_back();
        return found;
    }
    void give(Worker& worker) {
        std::lock_guard<std::mutex> lock(mutex_);
        workers_.push_back(&worker);
    }

  private:
    std::mutex mutex_;
    std::vector<Worker*> workers_;
};

IdleWorkers& idle_workers() {
    static IdleWorkers& kept = *new IdleWorkers;
    return kept;
}

struct Hired {
    Worker& worker = idle_workers().take();
    ~Hired() { idle_workers().give(worker); }
};

Worker& worker() {
    thread_local Hired mine;
    return mine.worker;
}

// System threads that wait for work.
class Crew {
  public:
    void work(Grid& grid, Blocks& blocks) {
        // The race detector costs more with every thread it knows: one system thread is faster than two.
        const dim3 block = grid.launch.configuration.block;
        const bool worth_waking = blocks.count() * block.x * block.y * block.z >= 4096;  // some 50 us of work
        const size_t helpers = detects_races || !worth_waking ? 0 : std::min<uint64_t>(settings().threads, blocks.count()) - 1;
        if (helpers == 0) return worker().work(grid, blocks);
        {
            std::lock_guard<std::mutex> lock(mutex_);
            while (hired_ < helpers) hire();
            grid_ = &grid;
            blocks_ = &blocks;
            wanted_ = busy_ = helpers;
            turn_++;
        }
        begin_.notify_all();
        worker().work(grid, blocks);
        std::unique_lock<std::mutex> lock(mutex_);
        end_.wait(lock, [&] { return busy_ == 0; });
    }

    static Crew& of_this_process() {  // the system threads of a parent are not there after a fork
        static Crew* crew = nullptr;
        static pid_t process = 0;
        if (process != getpid()) {
            crew = new Crew;
            process = getpid();
        }
        return *crew;
    }

  private:
    void hire() {
        std::thread([this, number = hired_, turn = turn_]() mutable {
            for (;;) {
                std::unique_lock<std::mutex> lock(mutex_);
                begin_.wait(lock, [&] { return turn != turn_; });
                turn = turn_;
                if (number >= wanted_) continue;
                lock.unlock();
                worker().work(*grid_, *blocks_);
                lock.lock();
                if (--busy_ == 0) end_.notify_all();
            }
        }).detach();
        hired_++;
    }

    std::mutex mutex_;
    std::condition_variable begin_, end_;
    Grid* grid_ = nullptr;
    Blocks* blocks_ = nullptr;
    size_t hired_ = 0, wanted_ = 0, busy_ = 0;
    uint64_t turn_ = 0;
};

void tell(const Launch& launch) {
    const dim3 grid = launch.configuration.grid, block = launch.configuration.block;
    std::fprintf(stderr, "CUDA emulator: launch of kernel `%s`: (%u,%u,%u) blocks of (%u,%u,%u) threads, %zu bytes of dynamic shared memory\n",
                 launch.name, grid.x, grid.y, grid.z, block.x, block.y, block.z, launch.configuration.dynamic_shared);
}

// Why the launch cannot be, where it cannot.
cudaError_t refusal(const Launch& launch) {
    const dim3 grid = launch.configuration.grid, block = launch.configuration.block;
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    if (block.x > 1024 || block.y > 1024 || block.z > 64 || threads > threads_per_block || threads == 0) {
        return refuse_launch(cudaErrorInvalidConfiguration, "kernel `%s`: a block has 1 to 1024 threads, at most (1024,1024,64); asked for (%u,%u,%u)",
                             launch.name, block.x, block.y, block.z);
    }
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > INT_MAX || grid.y > 65535 || grid.z > 65535) {
        return refuse_launch(cudaErrorInvalidConfiguration, "kernel `%s`: a grid has (1,1,1) to (2147483647,65535,65535) blocks; asked for (%u,%u,%u)",
                             launch.name, grid.x, grid.y, grid.z);
    }
    const size_t most = dynamic_shared_limit(launch.kernel);
    if (launch.configuration.dynamic_shared > most) {
        return refuse_launch(cudaErrorInvalidValue, "kernel `%s`: %zu bytes of dynamic shared memory; it may have %zu%s", launch.name,
                             launch.configuration.dynamic_shared, most,
                             most == shared_without_opt_in ? " (more after cudaFuncAttributeMaxDynamicSharedMemorySize)" : "");
    }
    if (!is_stream(launch.configuration.stream)) {
        return refuse_launch(cudaErrorInvalidResourceHandle, "kernel `%s`: no such stream: %p", launch.name, static_cast<void*>(launch.configuration.stream));
    }
    if (running_block) {
        return refuse_launch(cudaErrorNotSupported, "kernel `%s`: launched by a kernel, which the emulator does not do", launch.name);
    }
    return cudaSuccess;
}

// Another order for every launch: a kernel whose sums depend on it gives other bits when it is called again.
uint64_t seed_of_launch() {
    static std::atomic<uint64_t> launches{0};
    return settings().seed + 0x632BE59BD9B4E019ull * launches++;
}

}  // namespace

cudaError_t refuse_cooperation() {
    return refuse_launch(cudaErrorNotSupported, "a cooperative launch: the emulator's blocks cannot wait for each other");
}

cudaError_t postpone(const Launch& launch, std::shared_ptr<void> arguments) {
    if (const cudaError_t failed = checked(cudaSuccess)) return failed;
    if (const cudaError_t refused = refusal(launch)) return refused;
    postponed(launch.configuration.stream, [launch, arguments] { run(launch); });
    return cudaSuccess;
}

cudaError_t run(const Launch& launch) {
    if (const cudaError_t failed = checked(cudaSuccess)) return failed;
    if (const cudaError_t refused = refusal(launch)) return refused;
    catch_up(launch.configuration.stream);
    if (settings().launches) tell(launch);
    if (settings().launches > 1) return cudaSuccess;  // of calls whose sizes no emulated device could compute
    name_the_culprit();
    static std::mutex one_at_a_time;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    const dim3 shape = launch.configuration.grid;
    Grid grid{launch};
    Blocks blocks(uint64_t{shape.x} * shape.y * shape.z, settings().order, seed_of_launch());
    const DeviceAccess access;
    Crew::of_this_process().work(grid, blocks);
    return cudaSuccess;  // a kernel's failure is what later calls return
}

}  // namespace emulator
