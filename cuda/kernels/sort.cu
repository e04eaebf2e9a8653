/* A stable sort: blocks put tiles in order, and ever longer runs of them are merged.  Equal keys keep their order,
 * whatever order the threads run in. */
#include "sort.cuh"

#include "reduce.cuh"

namespace {

constexpr int DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS;
constexpr int THREADS = 256, WARPS = THREADS / WARP, ROUNDS = 8;
constexpr int WARP_TILE = WARP * ROUNDS,
              TILE = THREADS * ROUNDS; /* keys of a warp, which lie side by side, and of a block */
constexpr int MERGED = 16;             /* runs that one launch makes one: each key is looked for in all of them */
static_assert(DIGITS == THREADS, "a digit to a thread");

/* A block's keys, where they stood in the tile, and places[warp][digit]: how many keys so far, then where they go. */
struct Tile {
    uint32_t keys[TILE];
    uint16_t from[TILE];
    int places[WARPS][DIGITS];
};

/* The sum of the values of the threads before this one.  The block meets once. */
__device__ int sum_before(int value) {
    __shared__ int of_warp[WARPS];
    const int lane = lane_of_thread(), warp = threadIdx.x / WARP;
    int sum = value;
#pragma unroll
    for (int distance = 1; distance < WARP; distance *= 2) {
        const int other = __shfl_up_sync(ALL_LANES, sum, distance);
        sum += lane < distance ? 0 : other;
    }
    if (lane == WARP - 1) of_warp[warp] = sum;
    __syncthreads();
    for (int other = 0; other < warp; other++) sum += of_warp[other];
    return sum - value;
}

/* Puts a tile in the order of eight bits of its keys.  A key's place: the keys of smaller digits, those of its digit in
 * the warps before, and in its own warp before it. */
__device__ void order_by_digit(Tile& tile, int shift) {
    const int warp = threadIdx.x / WARP, lane = lane_of_thread(), start = warp * WARP_TILE + lane;
    for (int w = 0; w < WARPS; w++) tile.places[w][threadIdx.x] = 0;
    __syncthreads();
    uint32_t keys[ROUNDS];
    uint16_t from[ROUNDS];
    int ranks[ROUNDS];
    const auto place_of_digit = [&](uint32_t key) -> int& { return tile.places[warp][key >> shift & (DIGITS - 1)]; };
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        keys[round] = tile.keys[start + round * WARP];
        from[round] = tile.from[start + round * WARP];
        const unsigned same = __match_any_sync(ALL_LANES, keys[round] >> shift & (DIGITS - 1));
        const int before = __popc(same & ((1u << lane) - 1));
        ranks[round] = place_of_digit(keys[round]) + before;
        __syncwarp();
        if (before == 0) place_of_digit(keys[round]) += __popc(same);
        __syncwarp();
    }
    __syncthreads();
    int total = 0;
    for (int w = 0; w < WARPS; w++) total += tile.places[w][threadIdx.x];
    int place = sum_before(total);
    for (int w = 0; w < WARPS; w++) {
        const int count = tile.places[w][threadIdx.x];
        tile.places[w][threadIdx.x] = place;
        place += count;
    }
    __syncthreads();
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        const int to = place_of_digit(keys[round]) + ranks[round];
        tile.keys[to] = keys[round];
        tile.from[to] = from[round];
    }
    __syncthreads();
}

/* Keys above limit count as limit.  Behind the last key of all stand larger ones, which stay last. */
__global__ void __launch_bounds__(THREADS)
    sort_tile_kernel(const int32_t* indices, uint32_t limit, uint32_t* keys, int32_t* order, int64_t n) {
    __shared__ Tile tile;
    const int64_t start = blockIdx.x * int64_t{TILE};
    for (int i = threadIdx.x; i < TILE; i += THREADS) {
        const uint32_t key = start + i < n ? static_cast<uint32_t>(indices[start + i]) : UINT32_MAX;
        tile.keys[i] = start + i < n && key > limit ? limit : key;
        tile.from[i] = static_cast<uint16_t>(i);
    }
    __syncthreads();
    for (int shift = 0; shift == 0 || (shift < 32 && limit >> shift != 0); shift += DIGIT_BITS)
        order_by_digit(tile, shift);
    for (int i = threadIdx.x; i < TILE && start + i < n; i += THREADS) {
        keys[start + i] = tile.keys[i];
        order[start + i] = static_cast<int32_t>(start) + tile.from[i];
    }
}

/* How many of the ascending keys in [start, stop) are smaller than the bound. */
__device__ int64_t smaller(const uint32_t* keys, int64_t start, int64_t stop, uint32_t bound) {
    int64_t low = start, high = stop;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (keys[middle] < bound) low = middle + 1;
        else high = middle;
    }
    return low - start;
}

/* Runs of `length` keys lie side by side; MERGED of them become one.  A key's place is the number of keys before it in
 * each: of equal ones those of an earlier run. */
__global__ void __launch_bounds__(THREADS)
    merge_kernel(Sorted runs, int64_t length, uint32_t* keys, int32_t* order, int64_t n) {
    const int64_t i = blockIdx.x * int64_t{THREADS} + threadIdx.x;
    if (i >= n) return;
    const uint32_t key = runs.keys[i];
    const int64_t own = i / length * length, first = i / (MERGED * length) * (MERGED * length);
    int64_t place = first + (i - own);
    for (int64_t start = first; start < min64(first + MERGED * length, n); start += length) {
        const uint32_t bound = start < own ? key + 1 : key;
        if (start != own) place += smaller(runs.keys, start, min64(start + length, n), bound);
    }
    keys[place] = key;
    order[place] = runs.order[i];
}

} // namespace

/* Keys and order twice, as each merge moves them. */
int64_t sort_memory(int64_t n) { return 4 * n * static_cast<int64_t>(sizeof(int32_t)); }

int32_t sort_indices(const int32_t* indices, int64_t n, uint32_t limit, void* memory, Sorted* sorted,
                     cudaStream_t stream) {
    uint32_t* keys = static_cast<uint32_t*>(memory);
    int32_t* order = reinterpret_cast<int32_t*>(keys + 2 * n);
    sort_tile_kernel<<<blocks_for(n, TILE), THREADS, 0, stream>>>(indices, limit, keys, order, n);
    *sorted = {keys, order};
    bool second = true; /* where the next merge writes */
    for (int64_t length = TILE; length < n; length *= MERGED, second = !second) {
        uint32_t* const keys_out = second ? keys + n : keys;
        int32_t* const order_out = second ? order + n : order;
        merge_kernel<<<blocks_for(n, THREADS), THREADS, 0, stream>>>(*sorted, length, keys_out, order_out, n);
        *sorted = {keys_out, order_out};
    }
    return launched();
}
