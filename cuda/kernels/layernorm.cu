/* Layer norm.  Mean and variance are taken one after the other: where a row is one part it is in registers by then. */
#include "functions.cuh"
#include "rows.cuh"

namespace {

struct Forward {
    const float *input, *weight, *bias;
    float *output, *mean, *rstd;
    int rows, cols;
    float eps;
};

/* Items of the row that are no part of it count nothing. */
template <typename L> __device__ float squared_deviations(const float (&items)[L::ITEMS], int left, float mean) {
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < L::ITEMS; i++) {
        const float deviation = L::column(i) < left ? items[i] - mean : 0.0f;
        squares += deviation * deviation;
    }
    return squares;
}

template <typename L>
__device__ void store_output(const Forward& f, int64_t at, int64_t start, int left, float mean, float rstd,
                             float (&items)[L::ITEMS]) {
    float weights[L::ITEMS], biases[L::ITEMS];
    L::load(f.weight + start, left, 0.0f, weights);
    L::load(f.bias + start, left, 0.0f, biases);
#pragma unroll
    for (int i = 0; i < L::ITEMS; i++) items[i] = (items[i] - mean) * rstd * weights[i] + biases[i];
    L::store(f.output + at, left, items);
}

/* There, back, and there again: the part at which a walk ends is the first of the next. */
template <typename L> __global__ void __launch_bounds__(L::BLOCK) layernorm_kernel(Forward f) {
    const int64_t row = L::team();
    if (row >= f.rows) return;
    const Parts<L> parts{f.cols};
    const float* const x = f.input + row * f.cols;
    float items[L::ITEMS], sum = 0.0f, squares = 0.0f;
    for (int part = 0; part < parts.count(); part++) {
        L::load(x + parts.start(part), parts.left(part), 0.0f, items);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) sum += items[i];
    }
    const float mean = team_sum<L::THREADS>(sum) / static_cast<float>(f.cols);
    for (int part = parts.count() - 1; part >= 0; part--) {
        if (part < parts.count() - 1) L::load(x + parts.start(part), parts.left(part), 0.0f, items);
        squares += squared_deviations<L>(items, parts.left(part), mean);
    }
    const float rstd = inverse_root(team_sum<L::THREADS>(squares), f.cols, f.eps);
    if (L::member() == 0) {
        f.mean[row] = mean;
        f.rstd[row] = rstd;
    }
    for (int part = 0; part < parts.count(); part++) {
        if (part > 0) L::load(x + parts.start(part), parts.left(part), 0.0f, items);
        store_output<L>(f, row * f.cols + parts.start(part), parts.start(part), parts.left(part), mean, rstd, items);
    }
}

} // namespace

int32_t cuda_layernorm(const float* input, const float* weight, const float* bias, float* output, float* mean,
                       float* rstd, int rows, int hidden_dim, float eps, void* stream) {
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(bias, hidden_dim);
    CHECK_ARRAY(output, rows, hidden_dim);
    CHECK_ARRAY(mean, rows);
    CHECK_ARRAY(rstd, rows);
    CHECK(eps >= 0);
    const Forward f{input, weight, bias, output, mean, rstd, rows, hidden_dim, eps};
    return with_row_layout<3>(hidden_dim, rows_of_quads(hidden_dim, input, weight, bias, output), [=](auto layout) {
        using L = decltype(layout);
        layernorm_kernel<L><<<blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(f);
        return launched();
    });
}
