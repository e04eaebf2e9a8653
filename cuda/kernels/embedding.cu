/* Rows of a table, gathered and their gradients added back. */
#include "gather.cuh"
#include "sort.cuh"

namespace {

/* A team to each place in the sorted indices; the one where an index first stands adds all its rows, in order. */
template <typename L>
__global__ void __launch_bounds__(L::BLOCK)
    add_rows_kernel(const float* grad_output, Sorted sorted, uint32_t limit, float* grad_weight, int64_t n, int cols) {
    const int64_t first = L::team();
    if (first >= n) return;
    const uint32_t index = sorted.keys[first];
    if (index >= limit || (first > 0 && sorted.keys[first - 1] == index)) return;
    float* const to = grad_weight + int64_t{index} * cols;
    L::columns(cols, [&](int64_t column) {
        Pack<L::WIDTH> sum = load_pack<L::WIDTH>(to + column);
        for (int64_t place = first; place < n && sorted.keys[place] == index; place++) {
            const Pack<L::WIDTH> row = load_pack<L::WIDTH>(grad_output + int64_t{sorted.order[place]} * cols + column);
#pragma unroll
            for (int i = 0; i < L::WIDTH; i++) sum.at[i] += row.at[i];
        }
        store_pack<L::WIDTH>(to + column, sum);
    });
}

} // namespace

#define EMBEDDING(T, suffix)                                                                                           \
    int32_t cuda_embedding##suffix(const T* weight, const int* indices, T* output, int num_indices, int vocab_size,    \
                                   int embedding_dim, void* stream) {                                                  \
        CHECK_ARRAY(weight, vocab_size, embedding_dim);                                                                \
        CHECK_ARRAY(indices, num_indices);                                                                             \
        CHECK_ARRAY(output, num_indices, embedding_dim);                                                               \
        return gather(weight, indices, output, num_indices, vocab_size, 1, embedding_dim, stream);                     \
    }
EMBEDDING(float, )
EMBEDDING(assayer_bf16, _bf16)
EMBEDDING(assayer_fp16, _fp16)

int32_t cuda_scatter_add(const float* grad_output, const int* indices, float* grad_weight, int num_indices,
                         int embedding_dim, void* stream) {
    CHECK_ARRAY(grad_output, num_indices, embedding_dim);
    CHECK_ARRAY(indices, num_indices);
    CHECK_ARRAY(grad_weight, embedding_dim);
    const Scratch scratch(sort_memory(num_indices), stream_of(stream));
    TRY(scratch.code());
    const uint32_t limit = 1u << 31; /* where negative indices begin */
    Sorted sorted;
    TRY(sort_indices(indices, num_indices, limit, scratch.as<void>(), &sorted, stream_of(stream)));
    return with_team(embedding_dim, rows_of_quads(embedding_dim, grad_output, grad_weight), [=](auto layout) {
        using L = decltype(layout);
        add_rows_kernel<L><<<blocks_for(num_indices, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(
            grad_output, sorted, limit, grad_weight, num_indices, embedding_dim);
        return launched();
    });
}
