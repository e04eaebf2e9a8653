/* Gradients of recurrent layers: step after step from the last, those of the sums before the functions and their
 * product with w_h; then those of input and weights, one product each over all steps. */
#include "recurrent.cuh"

#include "reduce.cuh"
#include "scratch.cuh"

namespace {

struct Backward {
    Layer layer;
    const float *output, *cells, *gates, *d_output; /* those that the layer has */
    float *d_input, *d_w_x, *d_w_h, *d_b_x, *d_b_h; /* d_b_h is null where it is d_b_x */
    float *carried_h, *carried_c; /* d_h0 and d_c0: until the first step what came back to the step that is next */
    float beta;
    float *d_x = nullptr, *d_h = nullptr; /* [batch, steps, rows]: of w_x . x and w_h . h; one where they are equal */
    float* h = nullptr;                   /* [batch, steps, hidden_dim]: before each step */
};

struct TanhSlope {
    __device__ float operator()(float y, float d_h) const { return d_h * (1.0f - y * y); }
};
struct ReluSlope {
    __device__ float operator()(float y, float d_h) const { return y <= 0.0f ? 0.0f : d_h; }
};

template <typename Slope> struct RnnStepBack {
    static constexpr bool PAST_WEIGHTS = false; /* whether a part of d_h goes back without a weight */
    Backward b;
    int64_t step;

    __device__ void operator()(int64_t sample, int64_t unit) const {
        const int64_t n = b.layer.hidden_dim, at = (sample * b.layer.steps + step) * n + unit;
        b.d_h[at] = Slope{}(b.output[at], b.d_output[at] + b.carried_h[sample * n + unit]);
    }
};

struct LstmStepBack {
    static constexpr bool PAST_WEIGHTS = false;
    Backward b;
    int64_t step;

    __device__ void operator()(int64_t sample, int64_t unit) const {
        const int64_t n = b.layer.hidden_dim, at = sample * b.layer.steps + step, state = sample * n + unit;
        const float* const gates = b.gates + at * 4 * n + unit;
        const float i = gates[0], forget = gates[n], g = gates[2 * n], o = gates[3 * n],
                    t = tanhf(b.cells[at * n + unit]);
        const float d_h = b.d_output[at * n + unit] + b.carried_h[state];
        const float d = d_h * o * (1.0f - t * t) + b.carried_c[state];
        const float before = state_before(b.layer, b.cells, b.layer.c0, sample, step, unit);
        float* const d_pre = b.d_h + at * 4 * n + unit;
        d_pre[0] = d * g * (i * (1.0f - i));
        d_pre[n] = d * before * (forget * (1.0f - forget));
        d_pre[2 * n] = d * i * (1.0f - g * g);
        d_pre[3 * n] = d_h * t * (o * (1.0f - o));
        b.carried_c[state] = d * forget;
    }
};

struct GruStepBack {
    static constexpr bool PAST_WEIGHTS = true;
    Backward b;
    int64_t step;

    __device__ void operator()(int64_t sample, int64_t unit) const {
        const int64_t n = b.layer.hidden_dim, at = sample * b.layer.steps + step, state = sample * n + unit;
        const float* const gates = b.gates + at * 4 * n + unit;
        const float r = gates[0], z = gates[n], candidate = gates[2 * n], h_n = gates[3 * n];
        const float d = b.d_output[at * n + unit] + b.carried_h[state];
        const float before = state_before(b.layer, b.output, b.layer.h0, sample, step, unit);
        const float d_n = d * (1.0f - z) * (1.0f - candidate * candidate);
        const float d_r = d_n * h_n * (r * (1.0f - r)), d_z = d * (before - candidate) * (z * (1.0f - z));
        float *const d_x = b.d_x + at * 3 * n + unit, *const d_h = b.d_h + at * 3 * n + unit;
        d_x[0] = d_h[0] = d_r;
        d_x[n] = d_h[n] = d_z;
        d_x[2 * n] = d_n;
        d_h[2 * n] = d_n * r;
        b.carried_h[state] = d * z;
    }
};

/* The states before all steps, one below the other. */
struct Shift {
    Backward b;

    __device__ void operator()(int64_t term, int64_t unit) const {
        const Layer& l = b.layer;
        b.h[term * l.hidden_dim + unit] = state_before(l, b.output, l.h0, term / l.steps, term % l.steps, unit);
    }
};

/* d_bias = beta * d_bias + sums of columns: a column to a lane, the rows dealt out to the warps. */
constexpr int BIAS_WARPS = 8;

__global__ void __launch_bounds__(WARP* BIAS_WARPS)
    sum_columns_kernel(const float* d_pre, float* d_bias, int64_t terms, int64_t columns, float beta) {
    __shared__ float sums[BIAS_WARPS][WARP];
    const int warp = threadIdx.x / WARP;
    const int64_t column = blockIdx.x * int64_t{WARP} + lane_of_thread();
    float sum = 0.0f;
    if (column < columns)
        for (int64_t term = warp; term < terms; term += BIAS_WARPS) sum += d_pre[term * columns + column];
    sums[warp][lane_of_thread()] = sum;
    __syncthreads();
    if (warp > 0 || column >= columns) return;
    for (int other = 1; other < BIAS_WARPS; other++) sum += sums[other][lane_of_thread()];
    d_bias[column] = beta == 0.0f ? sum : beta * d_bias[column] + sum;
}

int32_t sum_columns(const Backward& b, const float* d_pre, float* d_bias, void* stream) {
    const Layer& l = b.layer;
    sum_columns_kernel<<<blocks_for(l.rows, WARP), WARP * BIAS_WARPS, 0, stream_of(stream)>>>(d_pre, d_bias, l.terms(),
                                                                                              l.rows, b.beta);
    return launched();
}

/* d_weight = beta * d_weight + d_pre^T . x over all steps. */
int32_t multiply_weight(const Backward& b, const float* d_pre, const float* x, float* d_weight, int64_t width,
                        void* stream) {
    const Layer& l = b.layer;
    Product product = {d_pre, x, d_weight, false, false, l.rows, width, l.terms(), l.rows, width, width};
    product.beta = b.beta;
    return multiply(product, stream);
}

int32_t multiply_gradients(const Backward& b, void* stream) {
    const Layer& l = b.layer;
    TRY(multiply(
        {b.d_x, l.w_x, b.d_input, true, false, l.terms(), l.input_dim, l.rows, l.rows, l.input_dim, l.input_dim},
        stream));
    TRY(multiply_weight(b, b.d_x, l.input, b.d_w_x, l.input_dim, stream));
    TRY(multiply_weight(b, b.d_h, b.h, b.d_w_h, l.hidden_dim, stream));
    TRY(sum_columns(b, b.d_x, b.d_b_x, stream));
    return b.d_b_h ? sum_columns(b, b.d_h, b.d_b_h, stream) : ASSAYER_OK;
}

/* d_h of the step before: d_pre . w_h, and what the step has left of its own. */
int32_t multiply_back(const Backward& b, int64_t step, bool past_weights, void* stream) {
    const Layer& l = b.layer;
    Product product = {b.d_h + step * l.rows, l.w_h,  b.carried_h,      true,         false,       l.batch,
                       l.hidden_dim,          l.rows, l.steps * l.rows, l.hidden_dim, l.hidden_dim};
    product.beta = past_weights ? 1.0f : 0.0f;
    return multiply(product, stream);
}

template <typename Step> int32_t backward(Backward b, void* stream) {
    const Layer& l = b.layer;
    if (!l.fits()) return ASSAYER_UNSUPPORTED;
    const int64_t sums = l.terms() * l.rows * (b.d_b_h ? 2 : 1), bytes = static_cast<int64_t>(sizeof(float));
    const Scratch scratch((l.terms() * l.hidden_dim + sums) * bytes, stream_of(stream));
    TRY(scratch.code());
    b.h = scratch.as<float>();
    b.d_x = b.h + l.terms() * l.hidden_dim;
    b.d_h = b.d_b_h ? b.d_x + l.terms() * l.rows : b.d_x;
    const size_t states = static_cast<size_t>(l.states() * bytes);
    TRY(code_of(cudaMemsetAsync(b.carried_h, 0, states, stream_of(stream))));
    if (b.carried_c) TRY(code_of(cudaMemsetAsync(b.carried_c, 0, states, stream_of(stream))));
    for (int64_t step = l.steps - 1; step >= 0; step--) {
        TRY(for_units(Step{b, step}, l.batch, l.hidden_dim, stream));
        TRY(multiply_back(b, step, Step::PAST_WEIGHTS, stream));
    }
    TRY(for_units(Shift{b}, l.terms(), l.hidden_dim, stream));
    return multiply_gradients(b, stream);
}

} // namespace

int32_t cuda_rnn_backward(const float* input, const float* w_x, const float* w_h, const float* h0, const float* output,
                          const float* d_output, float* d_input, float* d_w_x, float* d_w_h, float* d_bias, float* d_h0,
                          int batch, int steps, int input_dim, int hidden_dim, int activation, int has_h0, float beta,
                          void* stream) {
    CHECK_GRADIENTS(1);
    CHECK_ARRAY_IF(has_h0, h0, batch, hidden_dim);
    CHECK_ARRAY(d_bias, hidden_dim);
    CHECK(activation == ASSAYER_RELU || activation == ASSAYER_TANH);
    const Layer layer = {input,     w_x,        w_h,       has_h0 ? h0 : nullptr, nullptr, batch, steps,
                         input_dim, hidden_dim, hidden_dim};
    const Backward b = {layer, output, nullptr, nullptr, d_output, d_input, d_w_x,
                        d_w_h, d_bias, nullptr, d_h0,    nullptr,  beta};
    if (activation == ASSAYER_TANH) return backward<RnnStepBack<TanhSlope>>(b, stream);
    return backward<RnnStepBack<ReluSlope>>(b, stream);
}

int32_t cuda_lstm_backward(const float* input, const float* w_x, const float* w_h, const float* h0, const float* c0,
                           const float* output, const float* cells, const float* gates, const float* d_output,
                           float* d_input, float* d_w_x, float* d_w_h, float* d_bias, float* d_h0, float* d_c0,
                           int batch, int steps, int input_dim, int hidden_dim, int has_state, float beta,
                           void* stream) {
    CHECK_GRADIENTS(4);
    CHECK_ARRAY_IF(has_state, h0, batch, hidden_dim);
    CHECK_ARRAY_IF(has_state, c0, batch, hidden_dim);
    CHECK_ARRAY(cells, batch, steps, hidden_dim);
    CHECK_ARRAY(gates, batch, steps, int64_t{4} * hidden_dim);
    CHECK_ARRAY(d_bias, int64_t{4} * hidden_dim);
    CHECK_ARRAY(d_c0, batch, hidden_dim);
    const Layer layer = {input, w_x,       w_h,        has_state ? h0 : nullptr, has_state ? c0 : nullptr, batch,
                         steps, input_dim, hidden_dim, int64_t{4} * hidden_dim};
    const Backward b = {layer, output, cells,   gates, d_output, d_input, d_w_x,
                        d_w_h, d_bias, nullptr, d_h0,  d_c0,     beta};
    return backward<LstmStepBack>(b, stream);
}

int32_t cuda_gru_backward(const float* input, const float* w_x, const float* w_h, const float* h0, const float* output,
                          const float* gates, const float* d_output, float* d_input, float* d_w_x, float* d_w_h,
                          float* d_b_x, float* d_b_h, float* d_h0, int batch, int steps, int input_dim, int hidden_dim,
                          int has_h0, float beta, void* stream) {
    CHECK_GRADIENTS(3);
    CHECK_ARRAY_IF(has_h0, h0, batch, hidden_dim);
    CHECK_ARRAY(gates, batch, steps, int64_t{4} * hidden_dim);
    CHECK_ARRAY(d_b_x, int64_t{3} * hidden_dim);
    CHECK_ARRAY(d_b_h, int64_t{3} * hidden_dim);
    const Layer layer = {input, w_x,       w_h,        has_h0 ? h0 : nullptr,  nullptr, batch,
                         steps, input_dim, hidden_dim, int64_t{3} * hidden_dim};
    const Backward b = {layer, output, nullptr, gates, d_output, d_input, d_w_x,
                        d_w_h, d_b_x,  d_b_h,   d_h0,  nullptr,  beta};
    return backward<GruStepBack>(b, stream);
}
