// The barriers of a block that have numbers and counts.
#pragma once

#include <memory>

#include "cuda_runtime.h"

namespace emulator {

struct NamedBarriers {
    static constexpr unsigned barriers = 16;
    struct Barrier {
        unsigned arrived = 0, count = 0, generation = 0;
        unsigned waiting[32] = {};  // lanes, by warp
        char name[32] = "";         // as the thread that came first gave it
        char clocks[2] = {};
    };
    Barrier all[barriers];
    std::unique_ptr<Place[]> places;  // by thread: where it waits, or waited last
    bool used = false;

    void begin();  // a new block
    // The barrier that the thread waits at; null where it waits at none.
    const Barrier* of(const Thread& thread) const;
    Place place_of(const Thread& thread) const { return places[thread.number]; }
};

}  // namespace emulator
