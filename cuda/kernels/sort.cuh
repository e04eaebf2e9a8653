/* Indices put in order, with where they stood: what adding rows to a table and laying out by expert start with. */
#ifndef ASSAYER_SORT_CUH
#define ASSAYER_SORT_CUH

#include "launch.cuh"

/* keys[r] is the r-th smallest of n indices, order[r] where it stood; equal ones stand in order.  Indices outside
 * [0, limit) come last, as limit, which is less than 2^32 - 1. */
struct Sorted {
    const uint32_t* keys;
    const int32_t* order;
};

/* Bytes of scratch that sorting so many takes. */
int64_t sort_memory(int64_t n);

int32_t sort_indices(const int32_t* indices, int64_t n, uint32_t limit, void* memory, Sorted* sorted,
                     cudaStream_t stream);

#endif
