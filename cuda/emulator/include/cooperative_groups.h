// <cooperative_groups.h> of the emulator: blocks and tiles of a warp, by CUDA's names.  A grid can be asked for its size,
// but its blocks cannot wait for each other here.
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_block {
  public:
    static void sync(EMULATOR_HERE) { ::emulator::wait_at_barrier("thread_block::sync", false, place); }
    static unsigned thread_rank() { return ::emulator::running_thread->number; }
    static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned size() { return num_threads(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

class grid_group {
  public:
    static bool is_valid() { return false; }  // as in CUDA after an ordinary launch
    EMULATOR_LACKS("grid_group::sync, for which blocks have to wait for each other")
    static void sync() { ::emulator::trap("grid_group::sync(): blocks cannot wait for each other in the emulator"); }
    static unsigned long long block_rank() { return blockIdx.x + gridDim.x * (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z); }
    static unsigned long long num_blocks() { return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z; }
    static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
    static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned long long size() { return num_threads(); }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
};
inline grid_group this_grid() { return {}; }

// The lanes of one warp from a multiple of Size on; which of its parent's tiles it is.
template <unsigned Size>
class Tile {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

  public:
    Tile(unsigned rank_in_parent, unsigned parent_size) : meta_rank_(rank_in_parent / Size), meta_size_((parent_size + Size - 1) / Size) {}

    static unsigned thread_rank() { return ::emulator::running_thread->lane % Size; }
    static constexpr unsigned num_threads() { return Size; }
    static constexpr unsigned size() { return Size; }
    unsigned meta_group_rank() const { return meta_rank_; }
    unsigned meta_group_size() const { return meta_size_; }

    void sync(EMULATOR_HERE) const { ::emulator::sync_warp(mask(), place); }
    // Of any type that can be copied as bytes, structures too.
    template <class T> T shfl(T value, int source, EMULATOR_HERE) const { return ::emulator::shuffle_from("tile.shfl", mask(), value, source, Size, place); }
    template <class T> T shfl_up(T value, unsigned by, EMULATOR_HERE) const { return ::emulator::shuffle_up("tile.shfl_up", mask(), value, by, Size, place); }
    template <class T> T shfl_down(T value, unsigned by, EMULATOR_HERE) const { return ::emulator::shuffle_down("tile.shfl_down", mask(), value, by, Size, place); }
    template <class T> T shfl_xor(T value, unsigned bits, EMULATOR_HERE) const {
        return ::emulator::shuffle_xor("tile.shfl_xor", mask(), value, static_cast<int>(bits), Size, place);
    }
    int any(int predicate, EMULATOR_HERE) const { return __any_sync(mask(), predicate, place); }
    int all(int predicate, EMULATOR_HERE) const { return __all_sync(mask(), predicate, place); }
    unsigned ballot(int predicate, EMULATOR_HERE) const { return __ballot_sync(mask(), predicate, place) >> first_lane(); }
    template <class T> unsigned match_any(T value, EMULATOR_HERE) const { return __match_any_sync(mask(), value, place) >> first_lane(); }
    template <class T> unsigned match_all(T value, int& predicate, EMULATOR_HERE) const {
        return __match_all_sync(mask(), value, &predicate, place) >> first_lane();
    }

  private:
    static unsigned first_lane() { return ::emulator::running_thread->lane / Size * Size; }
    static unsigned mask() { return (~0u >> (32 - Size)) << first_lane(); }
    unsigned meta_rank_, meta_size_;
};

template <unsigned Size, class Parent = void>
class thread_block_tile : public Tile<Size> {
  public:
    thread_block_tile(const Tile<Size>& tile) : Tile<Size>(tile) {}
};
template <unsigned Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
    return Tile<Size>(parent.thread_rank(), parent.size());
}

template <class Group> inline void sync(const Group& group, EMULATOR_HERE) { group.sync(place); }

}  // namespace cooperative_groups
