/* The router's softmax over the k largest, and its gradient. */
#include "topk.cuh"
#include "topk_gradient.cuh"

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

template <typename L>
__global__ void __launch_bounds__(L::BLOCK, 1)
    softmax_topk_backward_kernel(const float* weights, const int32_t* indices, const float* d_weights, float* d_input,
                                 int rows, int cols, int k) {
    const int64_t row = L::team();
    if (row >= rows) return;
    ChosenGradient chosen = {weights + row * k, d_weights + row * k, indices + row * k, k};
    chosen.sum<L>(cols);
    const Parts<L> parts{cols};
    for (int part = 0; part < parts.count(); part++) {
        float items[L::ITEMS];
        chosen.at_columns<L>(parts.start(part), items);
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
