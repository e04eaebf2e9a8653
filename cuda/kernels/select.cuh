/* A walk down a row in descending order without sorting it: histograms by ever finer digits say where the walk stops.
 * Amounts are whole numbers, so that their sums are the same in any order. */
#ifndef ASSAYER_SELECT_CUH
#define ASSAYER_SELECT_CUH

#include "order.cuh"

using Mass = unsigned long long;

constexpr int BINS = 2048;

/* Of some entries: how many, and the sum of their weights. */
struct Amount {
    Mass mass;
    unsigned count;
    __device__ Amount operator+(const Amount& other) const { return {mass + other.mass, count + other.count}; }
    __device__ Amount operator-(const Amount& other) const { return {mass - other.mass, count - other.count}; }
};

__device__ inline Amount exchange(const Amount& a, int mask) {
    return {exchange(a.mass, mask), exchange(a.count, mask)};
}

template <typename T> __device__ T from_before(const T& value, int distance) {
    return __shfl_up_sync(ALL_LANES, value, distance);
}
__device__ inline Amount from_before(const Amount& a, int distance) {
    return {from_before(a.mass, distance), from_before(a.count, distance)};
}

/* The sum over the lanes up to and with this one. */
template <typename T> __device__ T sum_to_here(T value) {
#pragma unroll
    for (int distance = 1; distance < WARP; distance *= 2) {
        const T other = from_before(value, distance);
        if (lane_of_thread() >= distance) value = value + other;
    }
    return value;
}

/* Which entries are meant: those in one bin of each level so far.  Level 0 cuts the weights' logarithms evenly, so that
 * a row's entries spread over its bins; levels 1 to 3 are the digits of the key. */
struct Digits {
    int level, bin;  /* bin: of level 0 */
    uint32_t prefix; /* the key's digits so far */

    __device__ int shift() const { return level == 1 ? 21 : level == 2 ? 10 : 0; }
    __device__ bool holds(int first, uint32_t key) const {
        if (level == 0) return true;
        return first == bin && (level == 1 || key >> (level == 2 ? 21 : level == 3 ? 10 : 0) == prefix);
    }
    __device__ int digit(int first, uint32_t key) const {
        return level == 0 ? first : static_cast<int>(key >> shift() & (level == 3 ? 1023 : 2047));
    }
    __device__ Digits below(int digit) const {
        if (level == 0) return {1, digit, 0};
        return {level + 1, bin, prefix << (level == 3 ? 10 : 11) | static_cast<uint32_t>(digit)};
    }
};

/* Shared memory of a block of THREADS threads.  A mass lies there in two halves: devices add 32 bits in shared memory
 * at once, while a sum of 64 is a loop that compares and swaps. */
template <int THREADS_> struct Histogram {
    static constexpr int THREADS = THREADS_;
    unsigned low[BINS], high[BINS], count[BINS];
    Amount of_warp[THREADS / WARP], before, own; /* found: what lies before a bin, and in it */
    int found;

    __device__ Amount bin(int i) const { return {Mass{high[i]} << 32 | low[i], count[i]}; }
    __device__ void clear(int i) { low[i] = high[i] = count[i] = 0; }

    /* A low half that wraps carries: so often, whatever the order, as 2^32 goes into the sum of the low halves. */
    __device__ void add(int i, Mass weight) {
        const unsigned part = static_cast<unsigned>(weight), was = atomicAdd(&low[i], part);
        const unsigned above = static_cast<unsigned>(weight >> 32) + (was + part < part);
        if (above) atomicAdd(&high[i], above);
        atomicAdd(&count[i], 1u);
    }
};

/* Finds the bin in which the amounts, added up in order to those before, first exceed a threshold; where they never do,
 * the last one, with one entry.  Each thread adds the bins next to each other that are its own, from another one on
 * than its neighbours: else all would read one bank. */
template <int THREADS, typename Measure>
__device__ void find_bin(Histogram<THREADS>& h, const Measure& measure, Mass threshold, const Amount& before) {
    constexpr int EACH = BINS / THREADS;
    const int first = threadIdx.x * EACH, shift = lane_of_thread() * EACH / WARP;
    Amount own = {0, 0};
    for (int i = 0; i < EACH; i++) own = own + h.bin(first + (i + shift) % EACH);
    Amount to = sum_to_here(own);
    if (lane_of_thread() == WARP - 1) h.of_warp[threadIdx.x / WARP] = to;
    if (threadIdx.x == 0) {
        h.found = BINS - 1;
        h.before = before;
        h.own = {1, 1};
    }
    __syncthreads();
    to = to + before;
    for (int warp = 0; warp < static_cast<int>(threadIdx.x) / WARP; warp++) to = to + h.of_warp[warp];
    if (measure(to - own) <= threshold && threshold < measure(to)) { /* one thread */
        Amount from = to - own;
        int at = first;
        for (; at < first + EACH - 1 && measure(from + h.bin(at)) <= threshold; at++) from = from + h.bin(at);
        h.found = at;
        h.before = from;
        h.own = h.bin(at);
    }
    __syncthreads();
}

/* Where a walk stops: at entries of one weight, with those that come before them all. */
struct Stop {
    Digits digits;
    Amount before, own;

    __device__ Mass weight() const { return own.mass / own.count; }
};

/* The first entry in descending order up to which the measure of the amounts exceeds the threshold.  Row: size, and of
 * an entry its bin of level 0, key and weight. */
template <int THREADS, typename Row, typename Measure>
__device__ Stop walk_down(Histogram<THREADS>& h, const Row& row, const Measure& measure, Mass threshold) {
    Stop stop = {{0, 0, 0}, {0, 0}, {0, 0}};
    for (int level = 0; level < 4 && stop.own.count != 1; level++) {
        for (int i = threadIdx.x; i < BINS; i += THREADS) h.clear(i);
        __syncthreads();
        for (int64_t i = threadIdx.x; i < row.size; i += THREADS) {
            const int first = row.bin(i);
            const uint32_t key = row.key(i);
            if (!stop.digits.holds(first, key)) continue;
            h.add(stop.digits.digit(first, key), row.weight(i));
        }
        __syncthreads();
        find_bin(h, measure, threshold, stop.before);
        stop = {stop.digits.below(h.found), h.before, h.own};
        __syncthreads();
    }
    return stop;
}

/* The first index up to which the weights, added up in the order of the row, exceed the threshold; the last one where
 * they never do.  Each warp has a piece of the row; the one in whose piece the sum passes looks for it. */
template <int THREADS, typename Weight>
__device__ int walk_along(Histogram<THREADS>& h, int64_t size, const Weight& weight, Mass threshold) {
    const int warp = threadIdx.x / WARP, lane = lane_of_thread();
    const int64_t piece = (size + THREADS - 1) / THREADS * WARP, start = warp * piece;
    const int64_t stop = start + piece < size ? start + piece : size;
    Mass sum = 0;
    for (int64_t i = start + lane; i < stop; i += WARP) sum += weight(i);
    sum = warp_fold(sum, Sum{});
    if (lane == 0) h.of_warp[warp].mass = sum;
    if (threadIdx.x == 0) h.found = static_cast<int>(size) - 1;
    __syncthreads();
    Mass before = 0;
    for (int w = 0; w < warp; w++) before += h.of_warp[w].mass;
    if (before <= threshold && threshold < before + sum) {
        for (int64_t base = start; base < stop && before <= threshold; base += WARP) {
            const Mass to = before + sum_to_here(base + lane < stop ? weight(base + lane) : Mass{0});
            const unsigned passed = __ballot_sync(ALL_LANES, to > threshold);
            if (passed && lane == __ffs(static_cast<int>(passed)) - 1) h.found = static_cast<int>(base) + lane;
            before = __shfl_sync(ALL_LANES, to, WARP - 1);
        }
    }
    __syncthreads();
    return h.found;
}

#endif
