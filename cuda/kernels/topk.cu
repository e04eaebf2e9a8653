/* The router's softmax over the k largest, and its gradient. */
#include "functions.cuh"
#include "topk.cuh"

namespace {

template <typename L>
__global__ void __launch_bounds__(L::BLOCK, 1)
    softmax_topk_kernel(const float* input, float* weights, int32_t* indices, int rows, int cols, int k) {
    const int64_t row = L::team();
    if (row >= rows) return;
    const float* const x = input + row * cols;
    const Parts<L> parts{cols};
    float items[L::ITEMS];
    L::load(x, parts.left(0), 0.0f, items);
    choose_topk(x, parts, items, weights + row * k, indices + row * k, k, [](int) {});
}

/* A column looks for itself among the chosen; of equal ones the last counts.  A row with an index that is no column is
 * NaN. */
template <typename L>
__global__ void __launch_bounds__(L::BLOCK, 1)
    softmax_topk_backward_kernel(const float* weights, const int32_t* indices, const float* d_weights, float* d_input,
                                 int rows, int cols, int k) {
    const int64_t row = L::team();
    if (row >= rows) return;
    const float *const w = weights + row * k, *const dw = d_weights + row * k;
    const int32_t* const chosen = indices + row * k;
    float inner = 0.0f;
    int strays = 0;
    for (int j = L::member(); j < k; j += L::THREADS) {
        inner += w[j] * dw[j];
        strays += chosen[j] < 0 || chosen[j] >= cols;
    }
    inner = team_sum<L::THREADS>(inner);
    const bool stray = team_sum<L::THREADS>(strays) != 0;
    const Parts<L> parts{cols};
    for (int part = 0; part < parts.count(); part++) {
        float items[L::ITEMS];
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] = stray ? not_a_number() : 0.0f;
        for (int j = 0; !stray && j < k; j++) {
            const float gradient = w[j] * (dw[j] - inner);
            const int64_t at = chosen[j] - parts.start(part);
#pragma unroll
            for (int i = 0; i < L::ITEMS; i++) items[i] = at == L::column(i) ? gradient : items[i];
        }
        L::store(d_input + row * cols + parts.start(part), parts.left(part), items);
    }
}

} // namespace

int32_t cuda_softmax_topk(const float* input, float* weights, int32_t* indices, int rows, int cols, int k,
                          void* stream) {
    CHECK_ARRAY(input, rows, cols);
    CHECK_ARRAY(weights, rows, k);
    CHECK_ARRAY(indices, rows, k);
    CHECK(k >= 1 && k <= cols);
    return with_row_layout<3>(cols, rows_of_quads(cols, input), [=](auto layout) {
        using L = decltype(layout);
        softmax_topk_kernel<L>
            <<<blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(input, weights, indices, rows, cols, k);
        return launched();
    });
}

int32_t cuda_softmax_topk_backward(const float* weights, const int32_t* indices, const float* d_weights, float* d_input,
                                   int rows, int cols, int k, void* stream) {
    CHECK_ARRAY(weights, rows, k);
    CHECK_ARRAY(indices, rows, k);
    CHECK_ARRAY(d_weights, rows, k);
    CHECK_ARRAY(d_input, rows, cols);
    CHECK(k <= cols);
    return with_row_layout<3>(cols, rows_of_quads(cols, d_input), [=](auto layout) {
        using L = decltype(layout);
        softmax_topk_backward_kernel<L><<<blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(
            weights, indices, d_weights, d_input, rows, cols, k);
        return launched();
    });
}
