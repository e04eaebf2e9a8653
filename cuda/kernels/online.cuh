/* The online softmax (Milakov and Gimelshein 2018): maximum and sum of exponentials in one walk. */
#ifndef ASSAYER_ONLINE_CUH
#define ASSAYER_ONLINE_CUH

#include "reduce.cuh"
#include "rows.cuh"

#include <cmath>

/* sum = the sum of exp(x - most) over some numbers, most their largest. */
struct Peak {
    float most, sum;
};

/* What is subtracted before exp: where every number so far is -infinity, nothing. */
__device__ inline float shift_of(float most) { return most == -INFINITY ? 0.0f : most; }

struct Merge {
    __device__ Peak operator()(const Peak& a, const Peak& b) const {
        const float most = fmaxf(a.most, b.most), shift = shift_of(most);
        return {most, a.sum * expf(a.most - shift) + b.sum * expf(b.most - shift)};
    }
};

__device__ inline Peak exchange(const Peak& peak, int mask) {
    return {exchange(peak.most, mask), exchange(peak.sum, mask)};
}

template <int ITEMS> __device__ Peak include(const Peak& peak, const float (&items)[ITEMS]) {
    float most = peak.most, sum = 0.0f;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) most = fmaxf(most, items[i]);
    const float shift = shift_of(most);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) sum += expf(items[i] - shift);
    return {most, peak.sum * expf(peak.most - shift) + sum};
}

/* The peak of a whole row; its last part stays in `items`.  A NaN or +infinity in the row makes the sum NaN. */
template <typename L> __device__ Peak row_peak(const float* row, const Parts<L>& parts, float (&items)[L::ITEMS]) {
    Peak peak = {-INFINITY, 0.0f};
    for (int part = 0; part < parts.count(); part++) {
        L::load(row + parts.start(part), parts.left(part), -INFINITY, items);
        peak = include(peak, items);
    }
    return team_fold<L::THREADS>(peak, Merge{});
}

#endif
