/* The kernels of attention backward, without atomics: one walks the keys of a tile of queries for d_Q, one the queries
 * that see a tile of keys for d_K and d_V.  Both compute P and dS anew. */
#ifndef ASSAYER_ATTENTION_BACKWARD_CUH
#define ASSAYER_ATTENTION_BACKWARD_CUH

#include "attention.cuh"

#include <cmath>

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
        for (int64_t column = L::lane(); column < head_dim; column += L::ACROSS)
            sum = fmaf(d_output[column], output[column], sum);
    return warp_fold<L::ACROSS>(sum, Sum{});
}

/* What a query's P and dS depend on besides products. */
struct Query {
    float lse, inner;
    int last_key; /* -1 where there is no query: it sees none */
};

/* Turns Q . K^T into P = exp(scale * Q . K^T - lse) where the key is seen.  query and key: of [r][c]. */
template <typename L, typename QueryAt, typename KeyAt>
__device__ void to_probabilities(float scale, const QueryAt& query, const KeyAt& key, Fragment<L, LINES>& products) {
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < products.COUNT; c++) {
            const float probability = expf(scale * products.at[r][c] - query(r, c).lse);
            products.at[r][c] = key(r, c) <= query(r, c).last_key ? probability : 0.0f;
        }
}

/* Turns d_output . V^T into scale * dS, dS = P * (d_output . V^T - D).  The weights saved are P. */
template <typename L, typename QueryAt, typename KeyAt>
__device__ void to_gradients(float scale, const QueryAt& query, const KeyAt& key, const Products<L>& saved,
                             Fragment<L, LINES>& products) {
#pragma unroll
    for (int c = 0; c < products.COUNT; c++) {
        const Quad probabilities = saved.weights(c);
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
    Fragment<L, L::WIDTH> sums;
    sums.fill(0.0f);
    for (int64_t key = 0; key < end; key += LINES) {
        const KeyLines<const float> keys = key_lines(s, s.K, pair, key, end);
        const KeyLines<const float> values = key_lines(s, s.V, pair, key, end);
        const auto query_at = [&](int r, int) { return own[r]; };
        const auto key_at = [&](int, int c) { return static_cast<int>(key) + L::column(c); };
        Fragment<L, LINES> scores;
        products.dot(queries, keys, s.head_dim, scores);
        to_probabilities(s.scale, query_at, key_at, scores);
        products.store_weights(scores);
        products.dot(d_outputs, values, s.head_dim, scores);
        to_gradients(s.scale, query_at, key_at, products, scores);
        products.store_weights(scores);
        products.add_weighted(keys, static_cast<int>(keys.count), column, s.head_dim, sums);
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
    const KeyLines<const float> keys = key_lines(s, s.K, pair, key, s.kv_len);
    const KeyLines<const float> values = key_lines(s, s.V, pair, key, s.kv_len);
    const int64_t start = key * s.group(), tiles = ceil_div(s.queries() - start, LINES);
    const auto query_at = [&](int, int c) { return of_tile[L::column(c)]; };
    const auto key_at = [&](int r, int) { return static_cast<int>(key) + L::line(r); };
    Products<L> products(panels);
    Fragment<L, L::WIDTH> d_K, d_V;
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
        Fragment<L, LINES> scores;
        products.dot(keys, queries, s.head_dim, scores);
        to_probabilities(s.scale, query_at, key_at, scores);
        products.store_weights(scores);
        products.add_weighted(d_outputs, count, column, s.head_dim, d_V);
        products.dot(values, d_outputs, s.head_dim, scores);
        to_gradients(s.scale, query_at, key_at, products, scores);
        products.store_weights(scores);
        products.add_weighted(queries, count, column, s.head_dim, d_K);
    }
    float* const to_K = g.parts > 1 ? g.part_d_K + part * g.keys_size() : g.d_K;
    float* const to_V = g.parts > 1 ? g.part_d_V + part * g.keys_size() : g.d_V;
    store_lines<L>(key_lines(s, to_K, pair, key, s.kv_len), column, s.head_dim, d_K);
    store_lines<L>(key_lines(s, to_V, pair, key, s.kv_len), column, s.head_dim, d_V);
}

#endif
