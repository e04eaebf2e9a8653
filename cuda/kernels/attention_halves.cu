/* Attention of assayer.h in 16 bits: by matrix units, or in float32 between two conversions. */
#include "attention_backward_by_units.cuh"
#include "attention_by_units.cuh"
#include "cast.cuh"
#include "scratch.cuh"

namespace {

/* An array of the caller's in 16 bits, and in float32 meanwhile. */
struct Widened {
    const half_bits* from; /* null: not read */
    half_bits* to;         /* null: not written */
    int64_t count;
    float* wide = nullptr;
};

constexpr int64_t LINE = 64; /* floats: where the next array begins */

/* call(): the operation in float32, on what is `wide`. */
template <typename Format, int COUNT, typename Call>
int32_t in_float32(Format format, Widened (&all)[COUNT], void* stream, const Call& call) {
    int64_t floats = 0;
    for (const Widened& one : all) floats += ceil_div(one.count, LINE) * LINE;
    const Scratch scratch(floats * int64_t{sizeof(float)}, stream_of(stream));
    TRY(scratch.code());
    float* next = scratch.as<float>();
    for (Widened& one : all) {
        one.wide = next;
        next += ceil_div(one.count, LINE) * LINE;
        if (one.from) TRY(widen(format, one.from, one.wide, one.count, stream));
    }
    TRY(call());
    for (const Widened& one : all)
        if (one.to) TRY(narrow(format, one.wide, one.to, one.count, stream));
    return ASSAYER_OK;
}

template <typename Format>
int32_t attention_forward(const half_bits* Q, const half_bits* K, const half_bits* V, half_bits* output, float* lse,
                          int batch, int n_q_heads, int n_kv_heads, int q_len, int kv_len, int kv_capacity,
                          int head_dim, float scale, void* stream) {
    CHECK(sizes_fit(sizeof(float), batch, q_len, n_q_heads, head_dim)); /* also in float32 */
    CHECK(sizes_fit(sizeof(float), batch, kv_capacity, n_kv_heads, head_dim));
    CHECK_ARRAY(Q, batch, q_len, n_q_heads, head_dim);
    CHECK_ARRAY(K, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK_ARRAY(V, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK_ARRAY(output, batch, q_len, n_q_heads, head_dim);
    CHECK_ARRAY(lse, batch, n_q_heads, q_len);
    CHECK(n_q_heads % n_kv_heads == 0 && kv_len >= q_len && kv_len <= kv_capacity);
    const AttentionOf<half_bits> s = {Q,     K,      V,           batch,    n_q_heads, n_kv_heads,
                                      q_len, kv_len, kv_capacity, head_dim, scale};
    const int32_t done = attend_by_units(Format(), s, output, lse, stream);
    if (done != ASSAYER_UNSUPPORTED) return done;
    const int64_t queries = s.batch * s.q_len * s.n_q_heads * s.head_dim;
    const int64_t keys = s.batch * s.kv_capacity * s.n_kv_heads * s.head_dim;
    Widened all[] = {{Q, nullptr, queries}, {K, nullptr, keys}, {V, nullptr, keys}, {nullptr, output, queries}};
    return in_float32(Format(), all, stream, [&] {
        return cuda_attention_forward(all[0].wide, all[1].wide, all[2].wide, all[3].wide, lse, batch, n_q_heads,
                                      n_kv_heads, q_len, kv_len, kv_capacity, head_dim, scale, stream);
    });
}

template <typename Format>
int32_t attention_backward(const half_bits* Q, const half_bits* K, const half_bits* V, const half_bits* output,
                           const float* lse, const half_bits* d_output, half_bits* d_Q, half_bits* d_K, half_bits* d_V,
                           int batch, int n_q_heads, int n_kv_heads, int seq_len, int head_dim, float scale,
                           void* stream) {
    CHECK(sizes_fit(sizeof(float), batch, seq_len, n_q_heads, head_dim)); /* also in float32 */
    CHECK(sizes_fit(sizeof(float), batch, seq_len, n_kv_heads, head_dim));
    CHECK_ARRAY(Q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(K, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(V, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(output, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(lse, batch, n_q_heads, seq_len);
    CHECK_ARRAY(d_output, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(d_Q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(d_K, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(d_V, batch, seq_len, n_kv_heads, head_dim);
    CHECK(n_q_heads % n_kv_heads == 0);
    const AttentionOf<half_bits> s = {Q,       K,       V,       batch,    n_q_heads, n_kv_heads,
                                      seq_len, seq_len, seq_len, head_dim, scale};
    const AttentionGradients g = {output, lse, d_output, d_Q, d_K, d_V};
    const int32_t done = differentiate_by_units(Format(), s, g, stream);
    if (done != ASSAYER_UNSUPPORTED) return done;
    const int64_t queries = s.batch * s.q_len * s.n_q_heads * s.head_dim;
    const int64_t keys = s.batch * s.kv_len * s.n_kv_heads * s.head_dim;
    Widened all[] = {{Q, nullptr, queries},      {K, nullptr, keys},           {V, nullptr, keys},
                     {output, nullptr, queries}, {d_output, nullptr, queries}, {nullptr, d_Q, queries},
                     {nullptr, d_K, keys},       {nullptr, d_V, keys}};
    return in_float32(Format(), all, stream, [&] {
        return cuda_attention_backward(all[0].wide, all[1].wide, all[2].wide, all[3].wide, lse, all[4].wide,
                                       all[5].wide, all[6].wide, all[7].wide, batch, n_q_heads, n_kv_heads, seq_len,
                                       head_dim, scale, stream);
    });
}

} // namespace

#define ATTENTION_OF(Format, suffix)                                                                                   \
    int32_t cuda_attention_forward_##suffix(const half_bits* Q, const half_bits* K, const half_bits* V,                \
                                            half_bits* output, float* lse, int batch, int n_q_heads, int n_kv_heads,   \
                                            int q_len, int kv_len, int kv_capacity, int head_dim, float scale,         \
                                            void* stream) {                                                            \
        return attention_forward<Format>(Q, K, V, output, lse, batch, n_q_heads, n_kv_heads, q_len, kv_len,            \
                                         kv_capacity, head_dim, scale, stream);                                        \
    }                                                                                                                  \
    int32_t cuda_attention_backward_##suffix(const half_bits* Q, const half_bits* K, const half_bits* V,               \
                                             const half_bits* output, const float* lse, const half_bits* d_output,     \
                                             half_bits* d_Q, half_bits* d_K, half_bits* d_V, int batch, int n_q_heads, \
                                             int n_kv_heads, int seq_len, int head_dim, float scale, void* stream) {   \
        return attention_backward<Format>(Q, K, V, output, lse, d_output, d_Q, d_K, d_V, batch, n_q_heads, n_kv_heads, \
                                          seq_len, head_dim, scale, stream);                                           \
    }

ATTENTION_OF(Bf16, bf16)
ATTENTION_OF(Fp16, fp16)
