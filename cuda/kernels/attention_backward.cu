/* Attention backward without atomics: a kernel that walks the keys of a tile of queries for d_Q, and one that walks the queries
 * which see a tile of keys for d_K and d_V.  Both compute P and dS anew. */
#include "attention.cuh"

#include <cmath>

namespace {

/* With several parts to the queries of a tile each part leaves its own d_K and d_V: add_parts_kernel. */
struct Backward {
    Attention s;
    const float *output, *lse, *d_output;
    float *d_Q, *d_K, *d_V;
    float* inner; /* D of each row of lse */
    int64_t parts;
    float *part_d_K, *part_d_V; /* [parts, shape of K] */

    __host__ __device__ int64_t keys_size() const { return s.pairs() * s.kv_len * s.head_dim; }
};

/* D of a line, by the lanes that share it. */
template <typename L> __device__ float inner_of(const float* d_output, const float* output, int64_t head_dim) {
    float sum = 0.0f;
    if (output)
        for (int64_t column = L::lane(); column < head_dim; column += L::ACROSS) sum = fmaf(d_output[column], output[column], sum);
    return warp_fold<L::ACROSS>(sum, Sum{});
}

/* What a query's P and dS depend on besides products. */
struct Query {
    float lse, inner;
    int last_key; /* -1 where there is no query: it sees none */
};

/* Turns Q . K^T into P = exp(scale * Q . K^T - lse) where the key is seen.  query and key: of [r][c]. */
template <typename L, typename QueryAt, typename KeyAt>
__device__ void to_probabilities(float scale, const QueryAt& query, const KeyAt& key, Share<L, LINES>& products) {
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < products.COUNT; c++)
            products.at[r][c] = key(r, c) <= query(r, c).last_key ? expf(scale * products.at[r][c] - query(r, c).lse) : 0.0f;
}

/* Turns d_output . V^T into scale * dS, dS = P * (d_output . V^T - D).  The weights are P. */
template <typename L, typename QueryAt, typename KeyAt>
__device__ void to_gradients(float scale, const QueryAt& query, const KeyAt& key, const Products<L>& weighed,
                             Share<L, LINES>& products) {
#pragma unroll
    for (int c = 0; c < products.COUNT; c++) {
        const Quad probabilities = weighed.weights(c);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const float gradient = scale * probabilities.at[r] * (products.at[r][c] - query(r, c).inner);
            products.at[r][c] = key(r, c) <= query(r, c).last_key ? gradient : 0.0f;
        }
    }
}

template <typename L> __global__ void __launch_bounds__(L::THREADS, L::BLOCKS) d_queries_kernel(const Backward g) {
    __shared__ __align__(16) Panels<L> panels;
    __shared__ QueryTile tile;
    const Attention& s = g.s;
    const int64_t slices = slices_of<L>(s), column = blockIdx.x % slices * L::WIDTH, each = blockIdx.x / slices;
    const int64_t pair = each % s.pairs();
    const int64_t first = (s.query_tiles() - 1 - each / s.pairs()) * LINES; /* those that see most keys come first */
    const int64_t end = s.last_key(min64(first + LINES, s.queries()) - 1) + 1;
    tile.fill(s, pair, first);
    __syncthreads();
    const QueryLines<const float> queries = {s.Q, tile}, d_outputs = {g.d_output, tile}, outputs = {g.output, tile};
    Query own[4];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const int line = L::line(r);
        const bool there = tile.offset[line] >= 0;
        const float inner = inner_of<L>(d_outputs(line), outputs(line), s.head_dim);
        own[r] = {there ? g.lse[tile.row[line]] : 0.0f, inner, tile.last_key[line]};
        if (there && column == 0 && L::lane() == 0) g.inner[tile.row[line]] = inner;
    }
    Products<L> products(panels);
    Share<L, L::WIDTH> sums;
    sums.fill(0.0f);
    for (int64_t key = 0; key < end; key += LINES) {
        const KeyLines<const float> keys = key_lines(s, s.K, pair, key, end), values = key_lines(s, s.V, pair, key, end);
        const auto query_at = [&](int r, int) { return own[r]; };
        const auto key_at = [&](int, int c) { return static_cast<int>(key) + L::column(c); };
        Share<L, LINES> scores;
        products.dot(queries, keys, s.head_dim, scores);
        to_probabilities(s.scale, query_at, key_at, scores);
        products.weigh(scores);
        products.dot(d_outputs, values, s.head_dim, scores);
        to_gradients(s.scale, query_at, key_at, products, scores);
        products.weigh(scores);
        products.mix(keys, static_cast<int>(keys.count), column, s.head_dim, sums);
    }
    store_lines<L>(QueryLines<float>{g.d_Q, tile}, column, s.head_dim, sums);
}

template <typename L> __global__ void __launch_bounds__(L::THREADS, L::BLOCKS) d_keys_kernel(const Backward g) {
    __shared__ __align__(16) Panels<L> panels;
    __shared__ QueryTile tile;
    __shared__ Query of_tile[LINES];
    const Attention& s = g.s;
    const int64_t slices = slices_of<L>(s), column = blockIdx.x % slices * L::WIDTH, each = blockIdx.x / slices;
    const int64_t part = each % g.parts, pair = each / g.parts % s.pairs();
    const int64_t key = each / g.parts / s.pairs() * LINES; /* those that most queries see come first */
    const KeyLines<const float> keys = key_lines(s, s.K, pair, key, s.kv_len), values = key_lines(s, s.V, pair, key, s.kv_len);
    const int64_t start = key * s.group(), tiles = ceil_div(s.queries() - start, LINES);
    const auto query_at = [&](int, int c) { return of_tile[L::column(c)]; };
    const auto key_at = [&](int r, int) { return static_cast<int>(key) + L::line(r); };
    Products<L> products(panels);
    Share<L, L::WIDTH> d_K, d_V;
    d_K.fill(0.0f);
    d_V.fill(0.0f);
    for (int64_t t = tiles * part / g.parts; t < tiles * (part + 1) / g.parts; t++) {
        const int64_t first = start + t * LINES;
        tile.fill(s, pair, first);
        if (threadIdx.x < LINES) { /* each thread the line that it filled */
            const bool there = tile.offset[threadIdx.x] >= 0;
            const int64_t row = tile.row[threadIdx.x];
            of_tile[threadIdx.x] = {there ? g.lse[row] : 0.0f, there ? g.inner[row] : 0.0f, tile.last_key[threadIdx.x]};
        }
        __syncthreads();
        const QueryLines<const float> queries = {s.Q, tile}, d_outputs = {g.d_output, tile};
        const int count = static_cast<int>(min64(LINES, s.queries() - first));
        Share<L, LINES> scores;
        products.dot(keys, queries, s.head_dim, scores);
        to_probabilities(s.scale, query_at, key_at, scores);
        products.weigh(scores);
        products.mix(d_outputs, count, column, s.head_dim, d_V);
        products.dot(values, d_outputs, s.head_dim, scores);
        to_gradients(s.scale, query_at, key_at, products, scores);
        products.weigh(scores);
        products.mix(queries, count, column, s.head_dim, d_K);
    }
    float* const to_K = g.parts > 1 ? g.part_d_K + part * g.keys_size() : g.d_K;
    float* const to_V = g.parts > 1 ? g.part_d_V + part * g.keys_size() : g.d_V;
    store_lines<L>(key_lines(s, to_K, pair, key, s.kv_len), column, s.head_dim, d_K);
    store_lines<L>(key_lines(s, to_V, pair, key, s.kv_len), column, s.head_dim, d_V);
}

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
    const int64_t blocks = s.pairs() * slices_of<L>(s), key_blocks = blocks * s.key_tiles(), rows = s.pairs() * s.queries();
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
                                const float* d_output, float* d_Q, float* d_K, float* d_V, int batch, int n_q_heads, int n_kv_heads,
                                int seq_len, int head_dim, float scale, void* stream) {
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
