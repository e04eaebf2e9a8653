// A block's shared memory.
#pragma once

#include <cstddef>

#include "cuda_runtime.h"

namespace emulator {

class SharedMemory {
  public:
    SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    ~SharedMemory();

    // A new block: dynamic memory as the launch asks, no static memory yet.
    unsigned char* begin(size_t dynamic_bytes);
    // The piece that belongs to the declaration; null where the block would have more than a block may.
    void* find(const SharedVariable& variable);
    bool contains(const void* address) const;
    unsigned char* start() const { return arena_; }
    static constexpr size_t arena_bytes = 1 << 20;  // addresses, not memory: the most a block may have, and room for red zones
    // Says to which piece an address is nearest, for reports; false where it is no shared memory.
    bool describe(const void* address, char* text, size_t size) const;

  private:
    struct Piece {
        const SharedVariable* variable;
        unsigned char* begin;
        size_t bytes;
    };
    unsigned char* take(const SharedVariable* variable, size_t bytes, size_t alignment);

    static constexpr size_t most_pieces = 128;
    unsigned char* arena_;
    size_t used_ = 0, counted_ = 0;
    Piece pieces_[most_pieces];
    size_t n_pieces_ = 0;
};

// All bits set: NaN as float, double, half and bfloat16.  Not memset, which sanitisers take for an access of the kernel's.
void fill_with_nan(void* memory, size_t bytes);

}  // namespace emulator
