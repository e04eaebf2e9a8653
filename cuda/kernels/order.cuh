/* Which entries are largest: equal ones by lower index, a NaN above every number. */
#ifndef ASSAYER_ORDER_CUH
#define ASSAYER_ORDER_CUH

#include "reduce.cuh"

#include <math.h>

/* An unsigned key that ascends as x descends; 0 and -0 have one key, as has every NaN. */
__device__ inline uint32_t descending_key(float x) {
    if (isnan(x)) return 0;
    const uint32_t bits = __float_as_uint(x + 0.0f); /* -0 becomes 0 */
    return bits & 0x80000000u ? bits : 0x7fffffffu - bits;
}

/* A place in descending order: entries compare by value, then by index. */
using Place = unsigned long long;
constexpr Place NOWHERE = ~Place{0};

__device__ inline Place place_of(float x, int index) {
    return Place{descending_key(x)} << 32 | static_cast<uint32_t>(index);
}
__device__ inline int index_at(Place place) { return static_cast<int>(place & 0xffffffffu); }

/* The index of a row's largest entry, by the THREADS threads of a block. */
template <int THREADS> __device__ int first_largest(const float* row, int n) {
    Place first = NOWHERE;
    for (int64_t i = threadIdx.x; i < n; i += THREADS) first = Min{}(first, place_of(row[i], static_cast<int>(i)));
    return index_at(team_fold<THREADS>(first, Min{}));
}

#endif
