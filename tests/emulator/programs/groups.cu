// Cooperative groups: what other projects' kernels write in the place of __syncthreads and shuffles.
#include "harness.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

struct Most {
    float value;
    int at;
};
__device__ __forceinline__ Most larger(Most a, Most b) { return a.value >= b.value ? a : b; }

// A row for each tile, as layer norm and softmax have it.
template <unsigned Size>
__global__ void rows_kernel(const float* input, float* sums, Most* most, int rows, int cols) {
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<Size> tile = cg::tiled_partition<Size>(block);
    const unsigned row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    if (row >= static_cast<unsigned>(rows)) return;
    float sum = 0;
    Most mine{-1, -1};
    for (int col = static_cast<int>(tile.thread_rank()); col < cols; col += static_cast<int>(tile.size())) {
        const float value = input[row * cols + col];
        sum += value;
        mine = larger(mine, {value, col});
    }
    sum = cg::reduce(tile, sum, cg::plus<float>());
    mine = cg::reduce(tile, mine, larger);
    if (tile.thread_rank() == 0) sums[row] = sum, most[row] = mine;
}
template <unsigned Size>
static bool rows_are_reduced() {
    constexpr int rows = 23, cols = 75;
    std::vector<float> values(rows * cols);
    for (int i = 0; i < rows * cols; i++) values[i] = static_cast<float>(i * 37 % 101);
    Array<float> input(values), sums(rows);
    Array<Most> most(rows);
    rows_kernel<Size><<<rows, 96>>>(input, sums, most, rows, cols);
    for (int row = 0; row < rows; row++) {
        float sum = 0, top = -1;
        for (int col = 0; col < cols; col++) {
            sum += values[row * cols + col];
            top = values[row * cols + col] > top ? values[row * cols + col] : top;
        }
        if (sums.values()[row] != sum || most.values()[row].value != top || values[row * cols + most.values()[row].at] != top) return false;
    }
    return true;
}
PROGRAM(rows_by_warps) { return rows_are_reduced<32>(); }
PROGRAM(rows_by_tiles_of_eight) { return rows_are_reduced<8>(); }

__global__ void collectives_kernel(int* right) {
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const auto tile = cg::tiled_partition<4>(warp);
    const unsigned i = block.thread_rank(), rank = tile.thread_rank(), first = i - rank;
    int equal = -1;
    bool all = i == threadIdx.x + blockDim.x * threadIdx.y && block.size() == 80 && tile.size() == 4 && rank == i % 4;
    all = all && warp.meta_group_size() == 3 && warp.meta_group_rank() == i / 32 && tile.meta_group_size() == 8 && tile.meta_group_rank() == i % 32 / 4;
    all = all && tile.shfl(i, 1) == first + 1 && tile.shfl_xor(i, 3) == first + 3 - rank;
    all = all && tile.shfl_up(i, 1) == (rank ? i - 1 : i) && tile.shfl_down(i, 2) == (rank < 2 ? i + 2 : i);
    all = all && tile.ballot(rank % 2) == 0xa && tile.any(rank == 3) && !tile.all(rank < 3);
    all = all && tile.match_any(rank / 2) == (rank < 2 ? 0x3 : 0xc) && tile.match_all(first, equal) == 0xf && equal;
    all = all && cg::reduce(tile, static_cast<int>(rank), cg::greater<int>()) == 3 && cg::reduce(tile, static_cast<int>(rank), cg::less<int>()) == 0;
    all = all && cg::reduce(tile, 1u << rank, cg::bit_or<unsigned>()) == 0xf && cg::reduce(tile, ~(1u << rank), cg::bit_and<unsigned>()) == ~0xfu;
    all = all && cg::reduce(tile, rank, cg::bit_xor<unsigned>()) == 0;
    const auto grid = cg::this_grid();
    all = all && grid.size() == 160 && grid.thread_rank() == blockIdx.x * 80 + i && block.group_index().x == blockIdx.x && block.thread_index().y == threadIdx.y;
    right[grid.thread_rank()] = all;
}
PROGRAM(tile_collectives) {
    Array<int> right(160);
    collectives_kernel<<<2, dim3(40, 2)>>>(right);
    for (const int each : right.values()) {
        if (!each) return false;
    }
    return true;
}

// Shared memory, with the groups' own barriers between writing and reading.
__global__ void reversed_kernel(int* output) {
    __shared__ int values[96];
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<16>(block);
    const unsigned i = block.thread_rank(), mirrored = i - tile.thread_rank() + 15 - tile.thread_rank();
    values[i] = static_cast<int>(i);
    tile.sync();
    const int of_tile = values[mirrored];
    block.sync();
    values[i] = of_tile;
    cg::sync(block);
    output[i] = values[95 - i];
}
PROGRAM(group_barriers) {
    Array<int> output(96);
    reversed_kernel<<<1, 96>>>(output);
    const auto result = output.values();
    for (int i = 0; i < 96; i++) {
        if (result[i] != (95 - i) / 16 * 16 + 15 - (95 - i) % 16) return false;
    }
    return true;
}
