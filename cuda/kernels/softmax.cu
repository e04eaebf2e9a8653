/* Softmax and its gradient. */
#include "online.cuh"
#include "softmax_gradient.cuh"

namespace {

template <typename L>
__global__ void __launch_bounds__(L::BLOCK) softmax_kernel(const float* input, float* output, int rows, int cols) {
    const int64_t row = L::team();
    if (row >= rows) return;
    const float* const x = input + row * cols;
    float* const y = output + row * cols;
    const Parts<L> parts{cols};
    float items[L::ITEMS];
    const Peak peak = row_peak<L>(x, parts, items);
    const float factor = 1.0f / peak.sum;
    for (int part = parts.count() - 1; part >= 0; part--) {
        if (part < parts.count() - 1) L::load(x + parts.start(part), parts.left(part), 0.0f, items);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] = expf(items[i] - peak.max) * factor;
        L::store(y + parts.start(part), parts.left(part), items);
    }
}

template <typename L>
__global__ void __launch_bounds__(L::BLOCK)
    softmax_backward_kernel(const float* output, const float* d_output, float* d_input, int rows, int cols) {
    const int64_t row = L::team();
    if (row >= rows) return;
    const int64_t at = row * cols;
    softmax_row_backward<L>(output + at, d_output + at, d_input + at, cols, [](float slope) { return slope; });
}

} // namespace

int32_t cuda_softmax(const float* input, float* output, int rows, int cols, void* stream) {
    CHECK_ARRAY(input, rows, cols);
    CHECK_ARRAY(output, rows, cols);
    return with_row_layout<1>(cols, rows_of_quads(cols, input, output), [=](auto layout) {
        using L = decltype(layout);
        softmax_kernel<L><<<blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(input, output, rows, cols);
        return launched();
    });
}

int32_t cuda_softmax_backward(const float* output, const float* d_output, float* d_input, int rows, int cols,
                              void* stream) {
    CHECK_ARRAY(output, rows, cols);
    CHECK_ARRAY(d_output, rows, cols);
    CHECK_ARRAY(d_input, rows, cols);
    return with_row_layout<2>(cols, rows_of_quads(cols, output, d_output, d_input), [=](auto layout) {
        using L = decltype(layout);
        softmax_backward_kernel<L>
            <<<blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(output, d_output, d_input, rows, cols);
        return launched();
    });
}
