/* Recurrent layers: w_x . x of all steps is one product; then come, step after step, the product with w_h and what
 * stands behind it. */
#include "recurrent.cuh"

#include "functions.cuh"
#include "scratch.cuh"

namespace {

struct Forward {
    Layer layer;
    const float *b_x, *b_h;        /* null where they are 0 */
    float *output, *cells, *gates; /* those that the layer has */
    float* sums;                   /* where w_x . x lies, sums_row floats for each step */
    int64_t sums_row;
    float* of_h = nullptr; /* [batch, rows], where w_h . h is not added to the sums at once */
};

__device__ inline float added(float sum, const float* bias, int64_t unit) { return bias ? sum + bias[unit] : sum; }

struct Tanh {
    __device__ float operator()(float x) const { return tanhf(x); }
};
struct Relu {
    __device__ float operator()(float x) const { return x <= 0.0f ? 0.0f : x; }
};

template <typename Function> struct RnnStep {
    Forward f;
    int64_t step;

    __device__ void operator()(int64_t sample, int64_t unit) const {
        float& y = f.output[(sample * f.layer.steps + step) * f.layer.hidden_dim + unit];
        y = Function{}(added(y, f.b_x, unit));
    }
};

struct LstmStep {
    Forward f;
    int64_t step;

    __device__ void operator()(int64_t sample, int64_t unit) const {
        const int64_t n = f.layer.hidden_dim, at = sample * f.layer.steps + step;
        float* const gates = f.gates + at * 4 * n + unit;
        const float i = sigmoid(added(gates[0], f.b_x, unit)), forget = sigmoid(added(gates[n], f.b_x, n + unit));
        const float g = tanhf(added(gates[2 * n], f.b_x, 2 * n + unit));
        const float o = sigmoid(added(gates[3 * n], f.b_x, 3 * n + unit));
        const float c = forget * state_before(f.layer, f.cells, f.layer.c0, sample, step, unit) + i * g;
        gates[0] = i;
        gates[n] = forget;
        gates[2 * n] = g;
        gates[3 * n] = o;
        f.cells[at * n + unit] = c;
        f.output[at * n + unit] = o * tanhf(c);
    }
};

struct GruStep {
    Forward f;
    int64_t step;

    __device__ void operator()(int64_t sample, int64_t unit) const {
        const int64_t n = f.layer.hidden_dim, at = sample * f.layer.steps + step;
        float* const gates = f.gates + at * 4 * n + unit;
        const float* const of_h = f.of_h + sample * f.layer.rows + unit;
        const float r = sigmoid(added(gates[0], f.b_x, unit) + added(of_h[0], f.b_h, unit));
        const float z = sigmoid(added(gates[n], f.b_x, n + unit) + added(of_h[n], f.b_h, n + unit));
        const float h_n = added(of_h[2 * n], f.b_h, 2 * n + unit);
        const float candidate = tanhf(added(gates[2 * n], f.b_x, 2 * n + unit) + r * h_n);
        const float before = state_before(f.layer, f.output, f.layer.h0, sample, step, unit);
        gates[0] = r;
        gates[n] = z;
        gates[2 * n] = candidate;
        gates[3 * n] = h_n;
        f.output[at * n + unit] = (1.0f - z) * candidate + z * before;
    }
};

int32_t multiply_inputs(const Forward& f, void* stream) {
    const Layer& l = f.layer;
    return multiply(
        {l.input, l.w_x, f.sums, true, true, l.terms(), l.rows, l.input_dim, l.input_dim, l.input_dim, f.sums_row},
        stream);
}

/* w_h . h of a step, h lying in the output of the step before or at the start. */
int32_t multiply_states(const Forward& f, const float* start, int64_t step, void* stream) {
    const Layer& l = f.layer;
    const int64_t n = l.hidden_dim;
    const float* const h = step > 0 ? f.output + (step - 1) * n : start;
    Product product = {h,
                       l.w_h,
                       f.of_h ? f.of_h : f.sums + step * f.sums_row,
                       true,
                       true,
                       l.batch,
                       l.rows,
                       n,
                       step > 0 ? l.steps * n : n,
                       n,
                       f.of_h ? l.rows : l.steps * f.sums_row};
    product.beta = f.of_h ? 0.0f : 1.0f;
    return multiply(product, stream);
}

/* The states before the first step are looked at as numbers: 0 times an infinite weight is none. */
template <typename Step> int32_t forward(Forward f, bool needs_of_h, void* stream) {
    const Layer& l = f.layer;
    if (!l.fits()) return ASSAYER_UNSUPPORTED;
    const int64_t zeros = l.h0 ? 0 : l.states(), apart = needs_of_h ? l.batch * l.rows : 0;
    const Scratch scratch((zeros + apart + 1) * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    float* const zero = scratch.as<float>();
    if (zeros) TRY(code_of(cudaMemsetAsync(zero, 0, static_cast<size_t>(zeros) * sizeof(float), stream_of(stream))));
    if (needs_of_h) f.of_h = zero + zeros;
    TRY(multiply_inputs(f, stream));
    for (int64_t step = 0; step < l.steps; step++) {
        TRY(multiply_states(f, l.h0 ? l.h0 : zero, step, stream));
        TRY(for_units(Step{f, step}, l.batch, l.hidden_dim, stream));
    }
    return ASSAYER_OK;
}

} // namespace

int32_t cuda_rnn_forward(const float* input, const float* w_x, const float* w_h, const float* bias, const float* h0,
                         float* output, int batch, int steps, int input_dim, int hidden_dim, int activation,
                         int has_bias, int has_h0, void* stream) {
    CHECK_LAYER(1);
    CHECK_ARRAY_IF(has_bias, bias, hidden_dim);
    CHECK_ARRAY_IF(has_h0, h0, batch, hidden_dim);
    CHECK(activation == ASSAYER_RELU || activation == ASSAYER_TANH);
    const Layer layer = {input,     w_x,        w_h,       has_h0 ? h0 : nullptr, nullptr, batch, steps,
                         input_dim, hidden_dim, hidden_dim};
    const Forward f = {layer, has_bias ? bias : nullptr, nullptr, output, nullptr, nullptr, output, hidden_dim};
    if (activation == ASSAYER_TANH) return forward<RnnStep<Tanh>>(f, false, stream);
    return forward<RnnStep<Relu>>(f, false, stream);
}

int32_t cuda_lstm_forward(const float* input, const float* w_x, const float* w_h, const float* bias, const float* h0,
                          const float* c0, float* output, float* cells, float* gates, int batch, int steps,
                          int input_dim, int hidden_dim, int has_bias, int has_state, void* stream) {
    CHECK_LAYER(4);
    CHECK_ARRAY_IF(has_bias, bias, int64_t{4} * hidden_dim);
    CHECK_ARRAY_IF(has_state, h0, batch, hidden_dim);
    CHECK_ARRAY_IF(has_state, c0, batch, hidden_dim);
    CHECK_ARRAY(cells, batch, steps, hidden_dim);
    CHECK_ARRAY(gates, batch, steps, int64_t{4} * hidden_dim);
    const Layer layer = {input, w_x,       w_h,        has_state ? h0 : nullptr, has_state ? c0 : nullptr, batch,
                         steps, input_dim, hidden_dim, int64_t{4} * hidden_dim};
    const Forward f = {layer, has_bias ? bias : nullptr, nullptr, output, cells, gates, gates, int64_t{4} * hidden_dim};
    return forward<LstmStep>(f, false, stream);
}

int32_t cuda_gru_forward(const float* input, const float* w_x, const float* w_h, const float* b_x, const float* b_h,
                         const float* h0, float* output, float* gates, int batch, int steps, int input_dim,
                         int hidden_dim, int has_bias, int has_h0, void* stream) {
    CHECK_LAYER(3);
    CHECK_ARRAY_IF(has_bias, b_x, int64_t{3} * hidden_dim);
    CHECK_ARRAY_IF(has_bias, b_h, int64_t{3} * hidden_dim);
    CHECK_ARRAY_IF(has_h0, h0, batch, hidden_dim);
    CHECK_ARRAY(gates, batch, steps, int64_t{4} * hidden_dim);
    const Layer layer = {input, w_x,       w_h,        has_h0 ? h0 : nullptr,  nullptr, batch,
                         steps, input_dim, hidden_dim, int64_t{3} * hidden_dim};
    const Forward f = {layer, has_bias ? b_x : nullptr, has_bias ? b_h : nullptr, output, nullptr, gates,
                       gates, int64_t{4} * hidden_dim};
    return forward<GruStep>(f, true, stream);
}
