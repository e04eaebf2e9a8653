// The copies of cp.async that are under way, by thread.
#pragma once

#include <deque>
#include <memory>

#include "cuda_runtime.h"
#include "emulator/async_copy.h"
#include "run_queue.h"

namespace emulator {

class AsyncCopies {
  public:
    void begin(Order order, uint64_t seed);  // a new block
    bool defer(unsigned thread, const AsyncCopy& copy);
    void commit(unsigned thread);
    bool take(unsigned thread, unsigned pending, AsyncCopy& copy);

  private:
    struct OfThread {
        struct Grouped {
            AsyncCopy copy;
            uint64_t group;
        };
        std::deque<Grouped> under_way;
        uint64_t groups = 0;  // that were committed
    };
    OfThread& of(unsigned thread);
    std::unique_ptr<OfThread[]> threads_;
    bool used_ = false;
    Order order_ = Order::forward;
    uint64_t state_ = 1;
};

}  // namespace emulator
