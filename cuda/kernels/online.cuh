/* The online softmax (Milakov and Gimelshein 2018): maximum and sum of exponentials in one walk. */
#ifndef ASSAYER_ONLINE_CUH
#define ASSAYER_ONLINE_CUH

#include "reduce.cuh"
#include "rows.cuh"

#include <cmath>

/* sum = the sum of exp(x - max) over some numbers, max their largest. */
struct Peak {
    float max, sum;
};

/* What is subtracted before exp: where every number so far is -infinity, nothing. */
__device__ inline float shift_of(float row_max) { return row_max == -INFINITY ? 0.0f : row_max; }

struct Merge {
    __device__ Peak operator()(const Peak& a, const Peak& b) const {
        const float row_max = fmaxf(a.max, b.max), shift = shift_of(row_max);
        return {row_max, a.sum * expf(a.max - shift) + b.sum * expf(b.max - shift)};
    }
};

__device__ inline Peak exchange(const Peak& peak, int mask) {
    return {exchange(peak.max, mask), exchange(peak.sum, mask)};
}

template <int ITEMS> __device__ Peak include(const Peak& peak, const float (&items)[ITEMS]) {
    float row_max = peak.max, sum = 0.0f;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) row_max = fmaxf(row_max, items[i]);
    const float shift = shift_of(row_max);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) sum += expf(items[i] - shift);
    return {row_max, peak.sum * expf(peak.max - shift) + sum};
}

/* The peak of a whole row, of which load(part) puts a part into `items`; there its last part stays.  A NaN or +infinity
 * in the row makes the sum NaN. */
template <typename L, typename Load>
__device__ Peak row_peak_of(const Parts<L>& parts, float (&items)[L::ITEMS], const Load& load) {
    Peak peak = {-INFINITY, 0.0f};
    for (int part = 0; part < parts.count(); part++) {
        load(part);
        peak = include(peak, items);
    }
    return team_fold<L::THREADS>(peak, Merge{});
}

/* Of a row as it lies in memory. */
template <typename L, typename T>
__device__ Peak row_peak(const T* row, const Parts<L>& parts, float (&items)[L::ITEMS]) {
    return row_peak_of(parts, items,
                       [&](int part) { L::load(row + parts.start(part), parts.left(part), -INFINITY, items); });
}

#endif
