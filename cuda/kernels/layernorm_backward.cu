/* The gradient of layer norm: rows once for d_input, their sums over rows for d_weight and d_bias. */
#include "partials.cuh"
#include "rows.cuh"
#include "scratch.cuh"

namespace {

/* Each team sums its own d_weight and d_bias over the rows it takes, into its row of `d_weights` and of `d_biases`. */
struct Backward {
    const float *x, *weight, *mean, *rstd, *d_output;
    float *d_input, *d_weights, *d_biases;
    int rows, cols;
};

/* Of one row: h = (x - mean) * rstd, and the means of g = d_output * weight and of g * h. */
struct RowFactors {
    float mean, rstd, of_g, of_gh;
};

/* The last part stays in x and dy. */
template <typename L>
__device__ RowFactors row_factors(const Backward& b, int64_t row, const Parts<L>& parts, float (&x)[L::ITEMS],
                                  float (&dy)[L::ITEMS]) {
    RowFactors found{b.mean[row], b.rstd[row], 0.0f, 0.0f};
    for (int part = 0; part < parts.count(); part++) {
        const int64_t at = row * b.cols + parts.start(part);
        float weights[L::ITEMS];
        L::load(b.x + at, parts.left(part), found.mean, x);
        L::load(b.d_output + at, parts.left(part), 0.0f, dy);
        L::load(b.weight + parts.start(part), parts.left(part), 0.0f, weights);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) {
            const float g = dy[i] * weights[i];
            found.of_g += g;
            found.of_gh += L::column(i) < parts.left(part) ? g * ((x[i] - found.mean) * found.rstd) : 0.0f;
        }
    }
    found.of_g = team_sum<L::THREADS>(found.of_g) / static_cast<float>(b.cols);
    found.of_gh = team_sum<L::THREADS>(found.of_gh) / static_cast<float>(b.cols);
    return found;
}

/* Stores d_input of a part, and leaves h in x. */
template <typename L>
__device__ void store_d_input(const Backward& b, int64_t at, int64_t start, int left, const RowFactors& row,
                              float (&x)[L::ITEMS], const float (&dy)[L::ITEMS]) {
    float dx[L::ITEMS];
    L::load(b.weight + start, left, 0.0f, dx);
#pragma unroll
    for (int i = 0; i < L::ITEMS; i++) {
        x[i] = (x[i] - row.mean) * row.rstd;
        dx[i] = row.rstd * (dy[i] * dx[i] - row.of_g - x[i] * row.of_gh);
    }
    L::store(b.d_input + at, left, dx);
}

/* The team's sums of one part with a row's terms added: they are in registers where a row is one part, and in the
 * team's own row of both partial gradients where it is more; its first row finds nothing there. */
template <typename L>
__device__ void add_terms(float* d_weights, float* d_biases, int left, bool is_first, bool in_memory,
                          const float (&h)[L::ITEMS], const float (&dy)[L::ITEMS], float (&of_weight)[L::ITEMS],
                          float (&of_bias)[L::ITEMS]) {
    if (in_memory && !is_first) {
        L::load(d_weights, left, 0.0f, of_weight);
        L::load(d_biases, left, 0.0f, of_bias);
    }
#pragma unroll
    for (int i = 0; i < L::ITEMS; i++) {
        of_weight[i] = (is_first ? 0.0f : of_weight[i]) + dy[i] * h[i];
        of_bias[i] = (is_first ? 0.0f : of_bias[i]) + dy[i];
    }
    if (!in_memory) return;
    L::store(d_weights, left, of_weight);
    L::store(d_biases, left, of_bias);
}

template <typename L> __global__ void __launch_bounds__(L::BLOCK) layernorm_backward_kernel(Backward b) {
    const Parts<L> parts{b.cols};
    if (L::team() >= b.rows) return;
    float *const d_weights = b.d_weights + L::team() * b.cols, *const d_biases = b.d_biases + L::team() * b.cols;
    float x[L::ITEMS], dy[L::ITEMS], of_weight[L::ITEMS] = {}, of_bias[L::ITEMS] = {};
    for (int64_t row = L::team(); row < b.rows; row += L::teams()) {
        const RowFactors factors = row_factors<L>(b, row, parts, x, dy);
        for (int part = parts.count() - 1; part >= 0; part--) {
            const int64_t start = parts.start(part), at = row * b.cols + start;
            const int left = parts.left(part);
            if (part < parts.count() - 1) {
                L::load(b.x + at, left, 0.0f, x);
                L::load(b.d_output + at, left, 0.0f, dy);
            }
            store_d_input<L>(b, at, start, left, factors, x, dy);
            add_terms<L>(d_weights + start, d_biases + start, left, row == L::team(), parts.count() > 1, x, dy,
                         of_weight, of_bias);
        }
    }
    if (parts.count() > 1) return;
    L::store(d_weights, b.cols, of_weight);
    L::store(d_biases, b.cols, of_bias);
}

int32_t backward(Backward b, float* d_weight, float* d_bias, float beta, bool quads, void* stream) {
    const int teams = static_cast<int>(min64(b.rows, TEAMS_AT_MOST));
    const int64_t sums = int64_t{teams} * b.cols;
    const Scratch scratch(2 * sums * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    b.d_weights = scratch.as<float>();
    b.d_biases = b.d_weights + sums;
    TRY(with_row_layout<3>(b.cols, quads && rows_of_quads(b.cols, b.d_weights, b.d_biases), [=](auto layout) {
        using L = decltype(layout);
        layernorm_backward_kernel<L><<<blocks_for(teams, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(b);
        return launched();
    }));
    TRY(sum_partials(b.d_weights, d_weight, teams, b.cols, beta, stream));
    return sum_partials(b.d_biases, d_bias, teams, b.cols, beta, stream);
}

} // namespace

int32_t cuda_layernorm_backward(const float* input, const float* weight, const float* mean, const float* rstd,
                                const float* d_output, float* d_input, float* d_weight, float* d_bias, int rows,
                                int hidden_dim, float beta, void* stream) {
    CHECK_ARRAY(input, rows, hidden_dim);
    CHECK_ARRAY(weight, hidden_dim);
    CHECK_ARRAY(mean, rows);
    CHECK_ARRAY(rstd, rows);
    CHECK_ARRAY(d_output, rows, hidden_dim);
    CHECK_ARRAY(d_input, rows, hidden_dim);
    CHECK_ARRAY(d_weight, hidden_dim);
    CHECK_ARRAY(d_bias, hidden_dim);
    return backward({input, weight, mean, rstd, d_output, d_input, nullptr, nullptr, rows, hidden_dim}, d_weight,
                    d_bias, beta, rows_of_quads(hidden_dim, input, weight, d_output, d_input), stream);
}
