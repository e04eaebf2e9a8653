/* Losses against targets as many as the predictions. */
#include "functions.cuh"
#include "lists.cuh"
#include "online.cuh"
#include "scratch.cuh"

namespace {

constexpr float LOWEST_LOG = -100.0f, SMALLEST = 1e-12f;

/* The larger of two numbers; fmaxf would pass a NaN over. */
__device__ float bounded_log(float p) {
    const float x = logf(p);
    return x < LOWEST_LOG ? LOWEST_LOG : x;
}
__device__ float at_least_smallest(float x) { return x < SMALLEST ? SMALLEST : x; }

struct SquaredError {
    __device__ float operator()(float p, float t) const { return (p - t) * (p - t); }
};
struct BinaryEntropy {
    __device__ float operator()(float p, float t) const {
        return -(t * bounded_log(p) + (1.0f - t) * bounded_log(1.0f - p));
    }
};
struct BinaryEntropyOfLogit {
    __device__ float operator()(float x, float t) const {
        return (x > 0.0f ? x : 0.0f) - x * t + log1pf(expf(-fabsf(x)));
    }
};
struct CategoricalEntropy {
    __device__ float operator()(float p, float label) const { return -label * bounded_log(p); }
};
struct Likelihood {
    __device__ float operator()(float log_prob, float label) const { return -label * log_prob; }
};

/* x: two numbers; adds up what they give. */
template <typename Term> struct Summed {
    float sum = 0.0f;
    __device__ void operator()(const float (&x)[2], float (&)[1]) { sum += Term{}(x[0], x[1]); }
};

/* partials: one to a chunk. */
template <typename Term>
__global__ void __launch_bounds__(LIST_THREADS)
    chunk_kernel(const float* a, const float* b, int64_t n, float* partials) {
    for (int64_t chunk = blockIdx.x; chunk < ceil_div(n, CHUNK); chunk += gridDim.x) {
        Summed<Term> each;
        visit_chunk(Arrays<2, 0>{{a, b}, {}}, chunk * CHUNK, n, each);
        const float sum = team_sum<LIST_THREADS>(each.sum);
        if (threadIdx.x == 0) partials[chunk] = sum;
    }
}

/* One block: each thread in the order of its partials, in double. */
constexpr int MEAN_THREADS = 1024;

__global__ void __launch_bounds__(MEAN_THREADS)
    mean_kernel(const float* partials, int64_t count, double divisor, float* loss) {
    double sum = 0.0;
    for (int64_t i = threadIdx.x; i < count; i += MEAN_THREADS) sum += partials[i];
    sum = team_sum<MEAN_THREADS>(sum);
    if (threadIdx.x == 0) loss[0] = static_cast<float>(sum / divisor);
}

/* first: launches what a or b comes from, once there is the memory: a call without it has written nothing. */
template <typename Term, typename First>
int32_t mean_after(const First& first, const float* a, const float* b, int64_t n, double divisor, float* loss,
                   void* stream) {
    const int64_t chunks = ceil_div(n, CHUNK);
    const Scratch scratch(chunks * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    TRY(first());
    float* const partials = scratch.as<float>();
    chunk_kernel<Term><<<blocks_for(chunks, 1), LIST_THREADS, 0, stream_of(stream)>>>(a, b, n, partials);
    TRY(launched());
    mean_kernel<<<1, MEAN_THREADS, 0, stream_of(stream)>>>(partials, chunks, divisor, loss);
    return launched();
}

template <typename Term>
int32_t mean_of(const float* a, const float* b, int64_t n, double divisor, float* loss, void* stream) {
    return mean_after<Term>([] { return ASSAYER_OK; }, a, b, n, divisor, loss, stream);
}

/* Gradients; x: the prediction and its target. */
struct Difference {
    float factor;
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const { y[0] = (x[0] - x[1]) * factor; }
};
struct BinaryEntropyBackward {
    float factor;
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const {
        y[0] = (x[0] - x[1]) / at_least_smallest(x[0] * (1.0f - x[0])) * factor;
    }
};
struct SigmoidDifference {
    float factor;
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const { y[0] = (sigmoid(x[0]) - x[1]) * factor; }
};
struct CategoricalEntropyBackward {
    float factor;
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const {
        y[0] = -x[1] / at_least_smallest(x[0]) * factor;
    }
};

template <typename Gradient>
int32_t each(const float* a, const float* b, float* d, int64_t n, double factor, void* stream) {
    return map(Arrays<2, 1>{{a, b}, {d}}, n, Gradient{static_cast<float>(factor)}, stream);
}

/* A part of a row, divided; what is beyond the row stays -infinity. */
template <typename L>
__device__ void load_divided(const float* row, const Parts<L>& parts, int part, float divisor,
                             float (&items)[L::ITEMS]) {
    L::load(row + parts.start(part), parts.left(part), -INFINITY, items);
#pragma unroll
    for (int i = 0; i < L::ITEMS; i++) items[i] /= divisor;
}

template <typename L>
__global__ void __launch_bounds__(L::BLOCK)
    tempered_log_softmax_kernel(const float* logits, float* log_probs, int rows, int cols, float temperature) {
    const int64_t row = L::team();
    if (row >= rows) return;
    const float* const x = logits + row * cols;
    const Parts<L> parts{cols};
    float items[L::ITEMS];
    Peak peak = {-INFINITY, 0.0f};
    for (int part = 0; part < parts.count(); part++) {
        load_divided(x, parts, part, temperature, items);
        peak = include(peak, items);
    }
    peak = team_fold<L::THREADS>(peak, Merge{});
    const float log_sum = logf(peak.sum);
    for (int part = parts.count() - 1; part >= 0; part--) {
        if (part < parts.count() - 1) load_divided(x, parts, part, temperature, items);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] = (items[i] - peak.max) - log_sum;
        L::store(log_probs + row * cols + parts.start(part), parts.left(part), items);
    }
}

/* d = (exp(log_probs) * s - labels) * factor, s the sum of the row's labels. */
template <typename L>
__global__ void __launch_bounds__(L::BLOCK) dense_backward_kernel(const float* log_probs, const float* labels,
                                                                  float* d_logits, int rows, int cols, float factor) {
    const int64_t row = L::team(), at = row * cols;
    if (row >= rows) return;
    const Parts<L> parts{cols};
    float label[L::ITEMS], items[L::ITEMS], sum = 0.0f;
    for (int part = 0; part < parts.count(); part++) {
        L::load(labels + at + parts.start(part), parts.left(part), 0.0f, label);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) sum += label[i];
    }
    sum = team_sum<L::THREADS>(sum);
    for (int part = parts.count() - 1; part >= 0; part--) {
        const int64_t start = at + parts.start(part);
        if (part < parts.count() - 1) L::load(labels + start, parts.left(part), 0.0f, label);
        L::load(log_probs + start, parts.left(part), 0.0f, items);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] = (expf(items[i]) * sum - label[i]) * factor;
        L::store(d_logits + start, parts.left(part), items);
    }
}

} // namespace

int32_t cuda_mse_forward(const float* prediction, const float* target, float* loss, int64_t n, void* stream) {
    CHECK_ARRAY(prediction, n);
    CHECK_ARRAY(target, n);
    CHECK_ARRAY(loss, 1);
    return mean_of<SquaredError>(prediction, target, n, static_cast<double>(n), loss, stream);
}

int32_t cuda_mse_backward(const float* prediction, const float* target, float* d_prediction, int64_t n, float scale,
                          void* stream) {
    CHECK_ARRAY(prediction, n);
    CHECK_ARRAY(target, n);
    CHECK_ARRAY(d_prediction, n);
    return each<Difference>(prediction, target, d_prediction, n, 2.0 * scale / static_cast<double>(n), stream);
}

int32_t cuda_bce_forward(const float* probability, const float* target, float* loss, int64_t n, void* stream) {
    CHECK_ARRAY(probability, n);
    CHECK_ARRAY(target, n);
    CHECK_ARRAY(loss, 1);
    return mean_of<BinaryEntropy>(probability, target, n, static_cast<double>(n), loss, stream);
}

int32_t cuda_bce_backward(const float* probability, const float* target, float* d_probability, int64_t n, float scale,
                          void* stream) {
    CHECK_ARRAY(probability, n);
    CHECK_ARRAY(target, n);
    CHECK_ARRAY(d_probability, n);
    const double factor = scale / static_cast<double>(n);
    return each<BinaryEntropyBackward>(probability, target, d_probability, n, factor, stream);
}

int32_t cuda_bce_logits_forward(const float* logits, const float* target, float* loss, int64_t n, void* stream) {
    CHECK_ARRAY(logits, n);
    CHECK_ARRAY(target, n);
    CHECK_ARRAY(loss, 1);
    return mean_of<BinaryEntropyOfLogit>(logits, target, n, static_cast<double>(n), loss, stream);
}

int32_t cuda_bce_logits_backward(const float* logits, const float* target, float* d_logits, int64_t n, float scale,
                                 void* stream) {
    CHECK_ARRAY(logits, n);
    CHECK_ARRAY(target, n);
    CHECK_ARRAY(d_logits, n);
    return each<SigmoidDifference>(logits, target, d_logits, n, scale / static_cast<double>(n), stream);
}

int32_t cuda_categorical_cross_entropy_forward(const float* probabilities, const float* labels, float* loss, int rows,
                                               int cols, void* stream) {
    CHECK_ARRAY(probabilities, rows, cols);
    CHECK_ARRAY(labels, rows, cols);
    CHECK_ARRAY(loss, 1);
    return mean_of<CategoricalEntropy>(probabilities, labels, int64_t{rows} * cols, rows, loss, stream);
}

int32_t cuda_categorical_cross_entropy_backward(const float* probabilities, const float* labels, float* d_probabilities,
                                                int rows, int cols, float scale, void* stream) {
    CHECK_ARRAY(probabilities, rows, cols);
    CHECK_ARRAY(labels, rows, cols);
    CHECK_ARRAY(d_probabilities, rows, cols);
    const double factor = static_cast<double>(scale) / rows;
    return each<CategoricalEntropyBackward>(probabilities, labels, d_probabilities, int64_t{rows} * cols, factor,
                                            stream);
}

int32_t cuda_cross_entropy_dense_forward(const float* logits, const float* labels, float* loss, float* log_probs,
                                         int rows, int cols, float temperature, void* stream) {
    CHECK_ARRAY(logits, rows, cols);
    CHECK_ARRAY(labels, rows, cols);
    CHECK_ARRAY(loss, 1);
    CHECK_ARRAY(log_probs, rows, cols);
    CHECK(temperature > 0);
    const auto launch = [=](auto layout) {
        using L = decltype(layout);
        tempered_log_softmax_kernel<L><<<blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(
            logits, log_probs, rows, cols, temperature);
        return launched();
    };
    const auto first = [=] { return with_row_layout<1>(cols, rows_of_quads(cols, logits, log_probs), launch); };
    return mean_after<Likelihood>(first, log_probs, labels, int64_t{rows} * cols, rows, loss, stream);
}

int32_t cuda_cross_entropy_dense_backward(const float* log_probs, const float* labels, float* d_logits, int rows,
                                          int cols, float temperature, float scale, void* stream) {
    CHECK_ARRAY(log_probs, rows, cols);
    CHECK_ARRAY(labels, rows, cols);
    CHECK_ARRAY(d_logits, rows, cols);
    CHECK(temperature > 0);
    const float factor = static_cast<float>(scale / (static_cast<double>(rows) * temperature));
    return with_row_layout<2>(cols, rows_of_quads(cols, log_probs, labels, d_logits), [=](auto layout) {
        using L = decltype(layout);
        dense_backward_kernel<L><<<blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(
            log_probs, labels, d_logits, rows, cols, factor);
        return launched();
    });
}
