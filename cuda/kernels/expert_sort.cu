/* Experts: laying tokens out. */
#include "scratch.cuh"
#include "sort.cuh"

namespace {

/* position[the r-th pair in the order of experts] = r; offsets[e] = the first r whose expert is e or later.  Pairs
 * whose expert is none come after all others. */
__global__ void __launch_bounds__(256)
    lay_out_kernel(Sorted sorted, int32_t* offsets, int32_t* position, int64_t pairs, int n_experts) {
    const int64_t r = blockIdx.x * int64_t{256} + threadIdx.x;
    if (r > pairs) return;
    const int64_t before = r > 0 ? int64_t{sorted.keys[r - 1]} : -1;
    const int64_t here = r < pairs ? int64_t{sorted.keys[r]} : n_experts;
    for (int64_t e = before + 1; e <= here; e++) offsets[e] = static_cast<int32_t>(r);
    if (r < pairs) position[sorted.order[r]] = static_cast<int32_t>(r);
}

} // namespace

int32_t cuda_expert_sort(const int32_t* indices, int32_t* offsets, int32_t* position, int tokens, int top_k,
                         int n_experts, void* stream) {
    CHECK_ARRAY(indices, tokens, top_k);
    CHECK_ARRAY(offsets, int64_t{n_experts} + 1);
    CHECK_ARRAY(position, tokens, top_k);
    const int64_t pairs = int64_t{tokens} * top_k;
    CHECK(pairs <= INT32_MAX && n_experts >= 1);
    const Scratch scratch(sort_memory(pairs), stream_of(stream));
    TRY(scratch.code());
    Sorted sorted;
    TRY(sort_indices(indices, pairs, static_cast<uint32_t>(n_experts), scratch.as<void>(), &sorted, stream_of(stream)));
    lay_out_kernel<<<blocks_for(pairs + 1, 256), 256, 0, stream_of(stream)>>>(sorted, offsets, position, pairs,
                                                                              n_experts);
    return launched();
}
