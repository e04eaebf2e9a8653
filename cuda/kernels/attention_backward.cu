/* Attention backward: where there are few tiles of keys, the queries that see each are walked in parts. */
#include "attention_backward.cuh"
#include "scratch.cuh"

namespace {

constexpr int ADD_THREADS = 256;
constexpr int LEAST_QUERY_TILES = 4; /* of a part */

__global__ void __launch_bounds__(ADD_THREADS) add_parts_kernel(const Backward g) {
    const int64_t n = g.keys_size();
    for (int64_t i = blockIdx.x * int64_t{ADD_THREADS} + threadIdx.x; i < n; i += gridDim.x * int64_t{ADD_THREADS}) {
        float d_K = 0.0f, d_V = 0.0f;
        for (int64_t part = 0; part < g.parts; part++) {
            d_K += g.part_d_K[part * n + i];
            d_V += g.part_d_V[part * n + i];
        }
        g.d_K[i] = d_K;
        g.d_V[i] = d_V;
    }
}

template <typename L> int32_t launch(Backward g, cudaStream_t stream) {
    const Attention& s = g.s;
    const int64_t blocks = s.pairs() * slices_of<L>(s), key_blocks = blocks * s.key_tiles();
    const int64_t rows = s.pairs() * s.queries();
    g.parts = parts_for(key_blocks, ceil_div(s.query_tiles(), LEAST_QUERY_TILES));
    if (blocks * s.query_tiles() > INT32_MAX || key_blocks * g.parts > INT32_MAX)
        return ASSAYER_UNSUPPORTED; /* past a grid's first axis */
    const int64_t size = g.parts > 1 ? g.parts * g.keys_size() : 0;
    const Scratch scratch((rows + 2 * size) * static_cast<int64_t>(sizeof(float)), stream);
    TRY(scratch.code());
    g.part_d_K = scratch.as<float>(); /* first, where quads are aligned */
    g.part_d_V = g.part_d_K + size;
    g.inner = g.part_d_V + size;
    d_queries_kernel<L><<<blocks_for(blocks * s.query_tiles(), 1), L::THREADS, 0, stream>>>(g);
    d_keys_kernel<L><<<blocks_for(key_blocks * g.parts, 1), L::THREADS, 0, stream>>>(g);
    if (g.parts > 1) add_parts_kernel<<<blocks_for(g.keys_size(), ADD_THREADS), ADD_THREADS, 0, stream>>>(g);
    return launched();
}

} // namespace

int32_t cuda_attention_backward(const float* Q, const float* K, const float* V, const float* output, const float* lse,
                                const float* d_output, float* d_Q, float* d_K, float* d_V, int batch, int n_q_heads,
                                int n_kv_heads, int seq_len, int head_dim, float scale, void* stream) {
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
    Backward g = {};
    g.s = {Q, K, V, batch, n_q_heads, n_kv_heads, seq_len, seq_len, seq_len, head_dim, scale};
    g.output = output;
    g.lse = lse;
    g.d_output = d_output;
    g.d_Q = d_Q;
    g.d_K = d_K;
    g.d_V = d_V;
    const bool quads = rows_of_quads(head_dim, Q, K, V, output, d_output) && rows_of_quads(head_dim, d_Q, d_K, d_V);
    return with_attention_layout<256>(head_dim, quads,
                                      [=](auto layout) { return launch<decltype(layout)>(g, stream_of(stream)); });
}
