/* Choosing the next token: one block to a row. */
#include "launch.cuh"
#include "select.cuh"

#include <math.h>
#include <type_traits>

namespace {

/* Calls launch(threads) with the number of threads that rows of this length keep busy, as a type. */
template <typename Launch> int32_t with_threads_for(int columns, const Launch& launch) {
    if (columns <= 256) launch(std::integral_constant<int, WARP>{});
    else if (columns <= 4096) launch(std::integral_constant<int, 256>{});
    else launch(std::integral_constant<int, 1024>{});
    return launched();
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS) argmax_kernel(const float* logits, int32_t* output, int vocab_size) {
    const int first = first_largest<THREADS>(logits + blockIdx.x * int64_t{vocab_size}, vocab_size);
    if (threadIdx.x == 0) output[blockIdx.x] = first;
}

/* One draw, in units of 2^-24: the generator of assayer.h. */
__device__ Mass draw(uint64_t seed, int64_t row) {
    uint32_t state = static_cast<uint32_t>(seed ^ static_cast<uint64_t>(row) * 12345u);
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* draw * total, rounded down: a whole number exceeds it where it exceeds the product. */
__device__ Mass share(Mass draw, Mass total) { return draw * (total >> 24) + (draw * (total & 0xffffff) >> 24); }

/* A row's entries.  A weight is exp((logit - largest) / temperature) in units of `unit`, so small that a whole row's
 * stay below 2^62. */
struct Row {
    const float* logits;
    int64_t size;
    float largest, temperature, unit;
    bool by_probability; /* keys of the probabilities: at an infinite temperature all are equal; else of the logits */

    __device__ float tempered(int64_t i) const { return (logits[i] - largest) / temperature; }
    __device__ Mass weight(int64_t i) const {
        const float scaled = expf(tempered(i)) * unit;
        return scaled >= 1.0f ? static_cast<Mass>(scaled) : 0;
    }
    __device__ uint32_t key(int64_t i) const { return descending_key(by_probability ? tempered(i) : logits[i]); }
    __device__ int bin(int64_t i) const { return static_cast<int>(fminf(-tempered(i) * 64.0f, BINS - 1.0f)); }
    __device__ bool in(const Digits& digits, int64_t i) const { return digits.holds(bin(i), key(i)); }
};

struct ByMass {
    __device__ Mass operator()(const Amount& amount) const { return amount.mass; }
};

struct ByCount {
    __device__ Mass operator()(const Amount& amount) const { return amount.count; }
};

enum class Method { COLUMNS, TOP_K, TOP_P };

struct Sampler {
    const float* logits;
    const uint64_t* seeds;
    int32_t* output;
    int vocab_size;
    Method method;
    int k;
    float top_p, temperature, unit;
};

/* The sum of the weights that take part. */
template <int THREADS> __device__ Mass kept(Histogram<THREADS>& h, const Row& row, const Sampler& s) {
    if (s.method == Method::TOP_K) {
        const Stop stop = walk_down(h, row, ByCount{}, s.k - 1);
        return stop.before.mass + (s.k - stop.before.count) * stop.weight();
    }
    Mass total = 0;
    for (int64_t i = threadIdx.x; i < row.size; i += THREADS) total += row.weight(i);
    total = team_sum<THREADS>(total);
    if (s.method == Method::COLUMNS || s.top_p >= 1.0f) return total;
    const double enough = ceil(static_cast<double>(s.top_p) * static_cast<double>(total));
    const Mass last = enough > 1.0 ? static_cast<Mass>(enough) - 1 : 0; /* a sum that exceeds this has reached top_p */
    const Stop stop = walk_down(h, row, ByMass{}, last);
    return stop.before.mass + ((last - stop.before.mass) / stop.weight() + 1) * stop.weight();
}

template <int THREADS> __device__ int taken(Histogram<THREADS>& h, const Row& row, const Sampler& s, Mass u) {
    const Mass threshold = share(u, kept(h, row, s));
    if (s.method == Method::COLUMNS)
        return walk_along(h, row.size, [&](int64_t i) { return row.weight(i); }, threshold);
    const Stop stop = walk_down(h, row, ByMass{}, threshold);
    const Mass equals = (threshold - stop.before.mass) / stop.weight(); /* to be passed over */
    return walk_along(h, row.size, [&](int64_t i) { return Mass{row.in(stop.digits, i)}; }, equals);
}

/* Where the largest is no number or infinite no probability is one, and the first in the walk is taken. */
template <int THREADS> __global__ void __launch_bounds__(THREADS, 1) sample_kernel(Sampler s) {
    __shared__ Histogram<THREADS> h;
    const float* const logits = s.logits + blockIdx.x * int64_t{s.vocab_size};
    const int first = first_largest<THREADS>(logits, s.vocab_size);
    const Row row = {logits, s.vocab_size, logits[first], s.temperature, s.unit, s.method == Method::TOP_P};
    int index = first;
    if (s.temperature != 0.0f) {
        if (isfinite(row.largest)) index = taken(h, row, s, draw(s.seeds[blockIdx.x], blockIdx.x));
        else if (s.method != Method::TOP_K) index = 0;
    }
    if (threadIdx.x == 0) s.output[blockIdx.x] = index;
}

int32_t sample(Sampler s, int batch, void* stream) {
    s.unit = static_cast<float>(ldexp(1.0, 62 - ilogb(static_cast<double>(s.vocab_size)) - 1));
    return with_threads_for(s.vocab_size, [&](auto threads) {
        constexpr int THREADS = decltype(threads)::value;
        sample_kernel<THREADS><<<blocks_for(batch, 1), THREADS, 0, stream_of(stream)>>>(s);
    });
}

} // namespace

int32_t cuda_argmax(const float* logits, int32_t* output, int batch, int vocab_size, void* stream) {
    CHECK_ARRAY(logits, batch, vocab_size);
    CHECK_ARRAY(output, batch);
    return with_threads_for(vocab_size, [&](auto threads) {
        constexpr int THREADS = decltype(threads)::value;
        argmax_kernel<THREADS><<<blocks_for(batch, 1), THREADS, 0, stream_of(stream)>>>(logits, output, vocab_size);
    });
}

int32_t cuda_sample(const float* logits, int32_t* output, const uint64_t* seeds, int batch, int vocab_size,
                    float temperature, void* stream) {
    CHECK_ARRAY(logits, batch, vocab_size);
    CHECK_ARRAY(output, batch);
    CHECK_ARRAY(seeds, batch);
    CHECK(temperature >= 0);
    return sample({logits, seeds, output, vocab_size, Method::COLUMNS, vocab_size, 1.0f, temperature, 0.0f}, batch,
                  stream);
}

int32_t cuda_topk_sample(const float* logits, int32_t* output, const uint64_t* seeds, int batch, int vocab_size, int k,
                         float temperature, void* stream) {
    CHECK_ARRAY(logits, batch, vocab_size);
    CHECK_ARRAY(output, batch);
    CHECK_ARRAY(seeds, batch);
    CHECK(k >= 1 && temperature >= 0);
    const int at_most = static_cast<int>(min64(k, vocab_size));
    return sample({logits, seeds, output, vocab_size, Method::TOP_K, at_most, 1.0f, temperature, 0.0f}, batch, stream);
}

int32_t cuda_topp_sample(const float* logits, int32_t* output, const uint64_t* seeds, int batch, int vocab_size,
                         float top_p, float temperature, void* stream) {
    CHECK_ARRAY(logits, batch, vocab_size);
    CHECK_ARRAY(output, batch);
    CHECK_ARRAY(seeds, batch);
    CHECK(top_p == top_p && temperature >= 0);
    return sample({logits, seeds, output, vocab_size, Method::TOP_P, vocab_size, top_p, temperature, 0.0f}, batch,
                  stream);
}
