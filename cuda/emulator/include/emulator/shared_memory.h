// Shared memory.  The rewriter turns a declaration into an alias of a piece of the block's own memory:
//
//   __shared__ float tile[32][33];      typedef float tile_type[32][33];
//                                       static ::emulator::SharedVariable tile_variable{"tile", ...};
//                                       auto& tile = *::emulator::shared<tile_type>(tile_variable);
//   extern __shared__ float buffer[];   auto* const buffer = ::emulator::dynamic_shared<float>();
#pragma once

#include <initializer_list>

#include "thread.h"

namespace emulator {

constexpr size_t strictest(std::initializer_list<size_t> alignments) {
    size_t most = 1;
    for (const size_t each : alignments) most = each > most ? each : most;
    return most;
}

// One declaration.  Its address tells it from every other, instances of a template included.
struct SharedVariable {
    const char* name;
    Place place;
    size_t bytes, alignment;
};

// The running block's memory for the declaration: the same for all its threads, filled with 0xff when the first asks.
void* shared_memory(const SharedVariable& variable);

template <class T>
inline T* shared(const SharedVariable& variable) {
    return static_cast<T*>(shared_memory(variable));
}

template <class T>
inline T* dynamic_shared() {
    return reinterpret_cast<T*>(running_block->dynamic_shared);
}

// `extern __shared__ T name[];` outside a function, where a pointer could not follow the block.
template <class T>
struct DynamicShared {
    operator T*() const { return dynamic_shared<T>(); }
};

}  // namespace emulator
