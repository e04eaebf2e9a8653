/* Softmax with a temperature, and its gradient. */
#include "online.cuh"
#include "softmax_gradient.cuh"

namespace {

/* Divides by a temperature: times its reciprocal, in two steps where that of a tiny one would be infinite. */
struct Tempered {
    float factor, lift;
    __device__ explicit Tempered(float temperature) : lift(temperature < 0x1p-64f ? 0x1p64f : 1.0f) {
        factor = 1.0f / (temperature * lift);
    }
    __device__ float operator()(float x) const { return x * factor * lift; }
};

template <typename L>
__device__ void load_tempered(const float* part, int left, const Tempered& tempered, float (&items)[L::ITEMS]) {
    L::load(part, left, -INFINITY, items);
#pragma unroll
    for (int i = 0; i < L::ITEMS; i++) items[i] = tempered(items[i]);
}

template <typename L>
__global__ void __launch_bounds__(L::BLOCK)
    softmax_temperature_kernel(const float* input, float* output, int rows, int cols, float temperature) {
    const int64_t row = L::team();
    if (row >= rows) return;
    const float* const x = input + row * cols;
    float* const y = output + row * cols;
    const Parts<L> parts{cols};
    const Tempered tempered(temperature);
    float items[L::ITEMS];
    const auto load = [&](int part) { load_tempered<L>(x + parts.start(part), parts.left(part), tempered, items); };
    const Peak peak = row_peak_of(parts, items, load);
    const float factor = 1.0f / peak.sum;
    for (int part = parts.count() - 1; part >= 0; part--) {
        if (part < parts.count() - 1) load(part);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] = expf(items[i] - peak.max) * factor;
        L::store(y + parts.start(part), parts.left(part), items);
    }
}

template <typename L>
__global__ void __launch_bounds__(L::BLOCK)
    softmax_temperature_backward_kernel(const float* output, const float* d_output, float* d_input, int rows, int cols,
                                        float temperature) {
    const int64_t row = L::team();
    if (row >= rows) return;
    const int64_t at = row * cols;
    softmax_row_backward<L>(output + at, d_output + at, d_input + at, cols, Tempered(temperature));
}

} // namespace

int32_t cuda_softmax_temperature(const float* input, float* output, int rows, int cols, float temperature,
                                 void* stream) {
    CHECK_ARRAY(input, rows, cols);
    CHECK_ARRAY(output, rows, cols);
    CHECK(temperature > 0);
    return with_row_layout<1>(cols, rows_of_quads(cols, input, output), [=](auto layout) {
        using L = decltype(layout);
        softmax_temperature_kernel<L>
            <<<blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(input, output, rows, cols, temperature);
        return launched();
    });
}

int32_t cuda_softmax_temperature_backward(const float* output, const float* d_output, float* d_input, int rows,
                                          int cols, float temperature, void* stream) {
    CHECK_ARRAY(output, rows, cols);
    CHECK_ARRAY(d_output, rows, cols);
    CHECK_ARRAY(d_input, rows, cols);
    CHECK(temperature > 0);
    return with_row_layout<2>(cols, rows_of_quads(cols, output, d_output, d_input), [=](auto layout) {
        using L = decltype(layout);
        softmax_temperature_backward_kernel<L><<<blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(
            output, d_output, d_input, rows, cols, temperature);
        return launched();
    });
}
