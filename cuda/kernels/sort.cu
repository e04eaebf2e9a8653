/* A stable radix sort, eight bits at a time.  Equal keys keep their order, whatever order the threads run in. */
#include "sort.cuh"

#include "reduce.cuh"

namespace {

constexpr int DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS;
constexpr int THREADS = 256, WARPS = THREADS / WARP, ROUNDS = 8;
constexpr int WARP_TILE = WARP * ROUNDS,
              TILE = THREADS * ROUNDS; /* keys of a warp, which lie side by side, and of a block */
static_assert(DIGITS == THREADS, "a digit to a thread");

/* order null: as they stand.  Keys above limit count as limit. */
struct Pass {
    const uint32_t* keys;
    const int32_t* order;
    uint32_t* keys_out;
    int32_t *order_out, *counts, *totals; /* counts[digit, tile], totals[digit] */
    int64_t n;
    int tiles, shift;
    uint32_t limit;

    __device__ uint32_t key(int64_t i) const { return keys[i] < limit ? keys[i] : limit; }
    __device__ int digit(uint32_t key) const { return static_cast<int>(key >> shift & (DIGITS - 1)); }
};

__global__ void __launch_bounds__(THREADS) count_kernel(Pass pass) {
    __shared__ int counts[DIGITS];
    counts[threadIdx.x] = 0;
    __syncthreads();
    const int64_t start = blockIdx.x * int64_t{TILE}, stop = min64(start + TILE, pass.n);
    for (int64_t i = start + threadIdx.x; i < stop; i += THREADS) atomicAdd(&counts[pass.digit(pass.key(i))], 1);
    __syncthreads();
    pass.counts[threadIdx.x * int64_t{pass.tiles} + blockIdx.x] = counts[threadIdx.x];
}

/* The sum of the values of the lanes before this one. */
__device__ int sum_before(int value) {
    int sum = value;
#pragma unroll
    for (int distance = 1; distance < WARP; distance *= 2) {
        const int other = __shfl_up_sync(ALL_LANES, sum, distance);
        sum += lane_of_thread() < distance ? 0 : other;
    }
    return sum - value;
}

/* A digit to a warp: the count of each tile becomes the sum of those before it. */
__global__ void __launch_bounds__(THREADS) scan_kernel(Pass pass) {
    const int digit = blockIdx.x * WARPS + threadIdx.x / WARP;
    int* const row = pass.counts + int64_t{digit} * pass.tiles;
    int total = 0;
    for (int start = 0; start < pass.tiles; start += WARP) {
        const int tile = start + lane_of_thread(), count = tile < pass.tiles ? row[tile] : 0;
        const int before = total + sum_before(count);
        if (tile < pass.tiles) row[tile] = before;
        total += warp_fold(count, Sum{});
    }
    if (lane_of_thread() == 0) pass.totals[digit] = total;
}

/* The sum of totals over the digits before this thread's. */
__device__ int first_of_digit(const int* totals) {
    __shared__ int of_warp[WARPS];
    const int total = totals[threadIdx.x], before = sum_before(total), warp = threadIdx.x / WARP;
    if (lane_of_thread() == WARP - 1) of_warp[warp] = before + total;
    __syncthreads();
    int sum = before;
    for (int other = 0; other < warp; other++) sum += of_warp[other];
    return sum;
}

/* A key's place: the keys of smaller digits, those of its digit in the tiles before, in the warps before, and in its
 * own warp before it. */
__global__ void __launch_bounds__(THREADS) scatter_kernel(Pass pass) {
    __shared__ int places[WARPS][DIGITS];
    for (int i = threadIdx.x; i < WARPS * DIGITS; i += THREADS) places[i / DIGITS][i % DIGITS] = 0;
    __syncthreads();
    const int warp = threadIdx.x / WARP, lane = lane_of_thread();
    const int64_t start = blockIdx.x * int64_t{TILE} + warp * WARP_TILE + lane;
    uint32_t keys[ROUNDS];
    int ranks[ROUNDS];
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        const bool there = start + round * WARP < pass.n;
        keys[round] = there ? pass.key(start + round * WARP) : 0;
        const int digit = pass.digit(keys[round]);
        const unsigned same = __match_any_sync(ALL_LANES, there ? digit : DIGITS);
        const int before = __popc(same & ((1u << lane) - 1));
        ranks[round] = places[warp][digit] + before;
        __syncwarp();
        if (there && before == 0) places[warp][digit] += __popc(same);
        __syncwarp();
    }
    __syncthreads();
    int place = first_of_digit(pass.totals) + pass.counts[threadIdx.x * int64_t{pass.tiles} + blockIdx.x];
    for (int w = 0; w < WARPS; w++) {
        const int count = places[w][threadIdx.x];
        places[w][threadIdx.x] = place;
        place += count;
    }
    __syncthreads();
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t i = start + round * WARP;
        if (i >= pass.n) continue;
        const int to = places[warp][pass.digit(keys[round])] + ranks[round];
        pass.keys_out[to] = keys[round];
        pass.order_out[to] = pass.order ? pass.order[i] : static_cast<int32_t>(i);
    }
}

int64_t tiles_of(int64_t n) { return ceil_div(n, TILE); }

} // namespace

/* Keys and order twice, as each pass moves them; the counts. */
int64_t sort_memory(int64_t n) { return (4 * n + DIGITS * (tiles_of(n) + 1)) * static_cast<int64_t>(sizeof(int32_t)); }

int32_t sort_indices(const int32_t* indices, int64_t n, uint32_t limit, void* memory, Sorted* sorted,
                     cudaStream_t stream) {
    int32_t* const words = static_cast<int32_t*>(memory);
    uint32_t* const keys[] = {reinterpret_cast<uint32_t*>(words), reinterpret_cast<uint32_t*>(words) + n};
    int32_t *const order[] = {words + 2 * n, words + 3 * n}, *const counts = words + 4 * n;
    const int tiles = static_cast<int>(tiles_of(n));
    Pass pass = {reinterpret_cast<const uint32_t*>(indices),
                 nullptr,
                 keys[0],
                 order[0],
                 counts + DIGITS,
                 counts,
                 n,
                 tiles,
                 0,
                 limit};
    for (int number = 1; pass.shift < 32 && (pass.shift == 0 || limit >> pass.shift != 0); number++) {
        count_kernel<<<tiles, THREADS, 0, stream>>>(pass);
        scan_kernel<<<DIGITS / WARPS, THREADS, 0, stream>>>(pass);
        scatter_kernel<<<tiles, THREADS, 0, stream>>>(pass);
        *sorted = {pass.keys_out, pass.order_out};
        pass.keys = pass.keys_out;
        pass.order = pass.order_out;
        pass.keys_out = keys[number % 2];
        pass.order_out = order[number % 2];
        pass.shift += DIGIT_BITS;
    }
    return launched();
}
