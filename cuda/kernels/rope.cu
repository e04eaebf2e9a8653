/* Rotary position embedding on interleaved pairs (Su et al. 2021). */
#include "launch.cuh"
#include "vector.cuh"

#include <cmath>

namespace {

constexpr int THREADS = 256;

/* A frequency to a thread, which walks its share of the positions.  Angles are taken in double: float32 rounds them
 * once. */
constexpr int POSITIONS = 64;

__global__ void __launch_bounds__(THREADS) freqs_kernel(float* freqs, int max_seq_len, int half, double scaled_base) {
    const int64_t i = blockIdx.x * int64_t{THREADS} + threadIdx.x, d = i % half, first = i / half * POSITIONS;
    if (first >= max_seq_len) return;
    const double frequency = pow(scaled_base, -static_cast<double>(d) / half);
    for (int64_t position = first; position < min64(first + POSITIONS, max_seq_len); position++)
        freqs[position * half + d] = static_cast<float>(static_cast<double>(position) * frequency);
}

/* Heads that are rotated by the same angles. */
template <typename T> struct Heads {
    const T* from;
    T* to;
    int count;
};

template <typename T> struct Rotation {
    Heads<T> groups[2]; /* queries and keys, or one of them */
    const float* freqs; /* at the first position */
    int64_t tokens;     /* of all sequences */
    int seq_len, half;
    float direction; /* 1 forward, -1 back */
};

/* Neighbours of one head: one pair, or what sixteen bytes hold. */
template <int PAIRS, typename T>
__device__ void rotate_pairs(const T* from, T* to, const float (&sine)[PAIRS], const float (&cosine)[PAIRS]) {
    Pack<2 * PAIRS> x = load_numbers<2 * PAIRS>(from);
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
        const float even = x.at[2 * p], odd = x.at[2 * p + 1];
        x.at[2 * p] = even * cosine[p] - odd * sine[p];
        x.at[2 * p + 1] = even * sine[p] + odd * cosine[p];
    }
    store_numbers<2 * PAIRS>(to, x);
}

/* A thread rotates its pairs of a token in every head: sine and cosine are computed once for them all. */
template <int PAIRS, typename T> __global__ void __launch_bounds__(THREADS) rotate_kernel(Rotation<T> r) {
    const int64_t across = r.half / PAIRS, items = r.tokens * across;
    for (int64_t i = blockIdx.x * int64_t{THREADS} + threadIdx.x; i < items; i += gridDim.x * int64_t{THREADS}) {
        const int64_t token = i / across, pair = i % across * PAIRS;
        float sine[PAIRS], cosine[PAIRS];
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            sincosf(r.freqs[token % r.seq_len * r.half + pair + p], &sine[p], &cosine[p]);
            sine[p] *= r.direction;
        }
        for (const Heads<T>& heads : r.groups) {
            for (int head = 0; head < heads.count; head++) {
                const int64_t at = 2 * ((token * heads.count + head) * r.half + pair);
                rotate_pairs<PAIRS>(heads.from + at, heads.to + at, sine, cosine);
            }
        }
    }
}

template <typename T> int32_t rotate(const Rotation<T>& r, bool quads, void* stream) {
    constexpr int PAIRS = WHOLE<T> / 2;
    const int64_t items = r.tokens * r.half;
    if (quads) rotate_kernel<PAIRS><<<blocks_for(items / PAIRS, THREADS), THREADS, 0, stream_of(stream)>>>(r);
    else rotate_kernel<1><<<blocks_for(items, THREADS), THREADS, 0, stream_of(stream)>>>(r);
    return launched();
}

template <typename T>
Rotation<T> rotation(const Heads<T>& first, const Heads<T>& second, const float* freqs, int batch, int seq_len,
                     int head_dim, int offset, float direction) {
    const int half = head_dim / 2;
    return {{first, second}, freqs + int64_t{offset} * half, int64_t{batch} * seq_len, seq_len, half, direction};
}

int32_t rotate_one(const float* input, const float* freqs, float* output, int batch, int seq_len, int n_heads,
                   int head_dim, int offset, float direction, void* stream) {
    CHECK(head_dim % 2 == 0 && offset >= 0);
    CHECK_ARRAY(input, batch, seq_len, n_heads, head_dim);
    CHECK_ARRAY(output, batch, seq_len, n_heads, head_dim);
    CHECK_ARRAY(freqs, int64_t{seq_len} + offset, head_dim / 2);
    const Heads<float> all = {input, output, n_heads}, none = {nullptr, nullptr, 0};
    const Rotation<float> r = rotation(all, none, freqs, batch, seq_len, head_dim, offset, direction);
    return rotate(r, rows_of_quads(head_dim, input, output), stream);
}

template <typename T>
int32_t rotate_two(const T* q, const T* k, const float* freqs, T* q_out, T* k_out, int batch, int seq_len,
                   int n_q_heads, int n_kv_heads, int head_dim, int offset, float direction, void* stream) {
    CHECK(head_dim % 2 == 0 && offset >= 0);
    CHECK_ARRAY(q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(q_out, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(k, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(k_out, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(freqs, int64_t{seq_len} + offset, head_dim / 2);
    const Heads<T> queries = {q, q_out, n_q_heads}, keys = {k, k_out, n_kv_heads};
    const Rotation<T> r = rotation(queries, keys, freqs, batch, seq_len, head_dim, offset, direction);
    return rotate(r, rows_of_quads(head_dim, q, k, q_out, k_out), stream);
}

} // namespace

int32_t cuda_rope_freqs(float* freqs, int max_seq_len, int head_dim, float base, float alpha, void* stream) {
    CHECK(head_dim > 2 && head_dim % 2 == 0 && base > 0 && alpha > 0);
    CHECK_ARRAY(freqs, max_seq_len, head_dim / 2);
    const double scaled_base = base * std::pow(static_cast<double>(alpha), head_dim / (head_dim - 2.0));
    const int half = head_dim / 2;
    freqs_kernel<<<blocks_for(ceil_div(max_seq_len, POSITIONS) * half, THREADS), THREADS, 0, stream_of(stream)>>>(
        freqs, max_seq_len, half, scaled_base);
    return launched();
}

int32_t cuda_rope_forward(const float* input, const float* freqs, float* output, int batch, int seq_len, int n_heads,
                          int head_dim, int offset, void* stream) {
    return rotate_one(input, freqs, output, batch, seq_len, n_heads, head_dim, offset, 1.0f, stream);
}

int32_t cuda_rope_backward(const float* d_output, const float* freqs, float* d_input, int batch, int seq_len,
                           int n_heads, int head_dim, int offset, void* stream) {
    return rotate_one(d_output, freqs, d_input, batch, seq_len, n_heads, head_dim, offset, -1.0f, stream);
}

#define ROPE_QK(Declared, T, suffix)                                                                                   \
    int32_t cuda_rope_qk##suffix(const Declared* q, const Declared* k, const float* freqs, Declared* q_out,            \
                                 Declared* k_out, int batch, int seq_len, int n_q_heads, int n_kv_heads, int head_dim, \
                                 int offset, void* stream) {                                                           \
        return rotate_two(numbers_of<T>(q), numbers_of<T>(k), freqs, numbers_of<T>(q_out), numbers_of<T>(k_out),       \
                          batch, seq_len, n_q_heads, n_kv_heads, head_dim, offset, 1.0f, stream);                      \
    }                                                                                                                  \
    int32_t cuda_rope_qk_backward##suffix(const Declared* d_q_out, const Declared* d_k_out, const float* freqs,        \
                                          Declared* d_q, Declared* d_k, int batch, int seq_len, int n_q_heads,         \
                                          int n_kv_heads, int head_dim, int offset, void* stream) {                    \
        return rotate_two(numbers_of<T>(d_q_out), numbers_of<T>(d_k_out), freqs, numbers_of<T>(d_q),                   \
                          numbers_of<T>(d_k), batch, seq_len, n_q_heads, n_kv_heads, head_dim, offset, -1.0f, stream); \
    }
FOR_EACH_STORAGE(ROPE_QK)
