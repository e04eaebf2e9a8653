/* Attention backward in 16 bits by matrix units, without atomics (Dao et al. 2023, FlashAttention-2, in two walks): one
 * kernel walks the keys of a tile of queries for d_Q, one the queries that see a tile of keys for d_K and d_V.
 *
 * A block has ROWS queries (keys) of a (batch, KV head) in shared memory, a warp 16 of them, their sums in registers;
 * what they meet comes in turns, STEP lines at a time, in two stages.  For 5 (8) * ROWS * met * head_dim products of
 * 16-bit numbers, as a weight counts three times, a block moves 4 * (2 * ROWS + met) * head_dim bytes: what bounds both
 * kernels are the matrix units.  One walk with atomics would need 11 products instead of 13, and another order each
 * time. */
#ifndef ASSAYER_ATTENTION_MATRIX_BACKWARD_CUH
#define ASSAYER_ATTENTION_MATRIX_BACKWARD_CUH

#include "attention_backward_bf16.cuh"
#include "attention_fragments.cuh"

#include <cmath>

/* What a query's P and dS depend on besides products. */
struct alignas(8) QueryRow {
    float lse, inner; /* inner: D, the sum of d_output * output */
};

/* Heads of WIDTH numbers, or of fewer. */
template <int WIDTH_, int WARPS_, int STEP_, int RESIDENT_> struct FlashBackwardShape {
    static constexpr int WIDTH = WIDTH_, WARPS = WARPS_, STEP = STEP_, RESIDENT = RESIDENT_;
    static constexpr int THREADS = WARPS * WARP, ROWS = 16 * WARPS;
    static constexpr int SLICES = WIDTH / SLICE, STEP_TILES = STEP / 8, COLUMN_TILES = WIDTH / 8;
    static constexpr int OWN = ROWS * WIDTH, MET = STEP * WIDTH; /* numbers of a panel */
    static constexpr int STATISTICS = STEP * int{sizeof(QueryRow) / sizeof(half_bits)};
    static constexpr int STAGE = 2 * MET + STATISTICS, SHARED = 2 * OWN + 2 * STAGE;
    static_assert(ROWS % STEP == 0, "a step that goes past the last query has rows there too");
    using Own = HalfPanel<ROWS, WIDTH, true>;
    using Met = HalfPanel<STEP, WIDTH, true>;
    using Summed = HalfPanel<WIDTH, STEP, false>; /* laid out as what is met, read with its lines as depth */

    static __device__ int first_row() { return static_cast<int>(threadIdx.x) / WARP * 16; }
};

struct HalfBackward : AttentionGradients {
    AttentionOf<half_bits> s;
    QueryRow* rows; /* [pairs, queries in whole tiles] */

    template <typename Shape> __host__ __device__ int64_t tiles() const { return ceil_div(s.queries(), Shape::ROWS); }
    template <typename Shape> __host__ __device__ int64_t key_tiles() const { return ceil_div(s.kv_len, Shape::ROWS); }
    template <typename Shape> __host__ __device__ int64_t padded() const { return tiles<Shape>() * Shape::ROWS; }

    /* The first query that sees a key; queries() where none does. */
    __device__ int first_query(int64_t key) const {
        const int64_t query = (key - (s.kv_len - s.q_len)) * s.group();
        return static_cast<int>(query < 0 ? 0 : min64(query, s.queries()));
    }
};

/* products = own rows . met lines^T. */
template <typename Format, typename Shape>
__device__ void multiply_rows(const half_bits* own, const half_bits* met, float (&products)[Shape::STEP_TILES][4]) {
    const auto rows = [&](int k) { return row_fragment<typename Shape::Own>(own, Shape::first_row(), k); };
    multiply_lines<typename Format::Number, typename Shape::Met, Shape::SLICES>(rows, met, products);
}

/* Sets to 0 what is hidden, where anything of a step is. */
template <int COUNT, typename Hidden>
__device__ void mask(bool masked, const Hidden& hidden, float (&numbers)[COUNT][4]) {
    if (!masked) return;
#pragma unroll
    for (int j = 0; j < COUNT; j++)
#pragma unroll
        for (int n = 0; n < 4; n++)
            if (hidden(j, n)) numbers[j][n] = 0.0f;
}

/* Turns Q . K^T into P = exp(scale * Q . K^T - lse).  row: of [j][n]. */
template <int COUNT, typename Row>
__device__ void to_probabilities(float scale, const Row& row, float (&scores)[COUNT][4]) {
#pragma unroll
    for (int j = 0; j < COUNT; j++)
#pragma unroll
        for (int n = 0; n < 4; n++) scores[j][n] = expf(scale * scores[j][n] - row(j, n).lse);
}

/* Turns d_output . V^T into scale * dS, dS = P * (d_output . V^T - D). */
template <int COUNT, typename Row>
__device__ void to_gradients(float scale, const Row& row, const float (&P)[COUNT][4], float (&gradients)[COUNT][4]) {
#pragma unroll
    for (int j = 0; j < COUNT; j++)
#pragma unroll
        for (int n = 0; n < 4; n++) gradients[j][n] = scale * P[j][n] * (gradients[j][n] - row(j, n).inner);
}

/* lse and D of a query, by the four lanes that share its row.  Of one that does not exist lse is infinite: it weighs
 * nothing. */
__device__ inline QueryRow query_row(const HalfBackward& g, const QueriesOf& all, int query) {
    const half_bits* const d_output = all.line_of(g.d_output, query);
    const half_bits* const output = all.line_of(g.output, query);
    float sum = 0.0f;
    for (int64_t chunk = lane_of_thread() % 4 * CHUNK; d_output && chunk < g.s.head_dim; chunk += 4 * CHUNK) {
        const auto left = load_pack<CHUNK>(d_output + chunk), right = load_pack<CHUNK>(output + chunk);
#pragma unroll
        for (int i = 0; i < CHUNK; i++) sum = fmaf(Bf16::widen(left.at[i]), Bf16::widen(right.at[i]), sum);
    }
    const float inner = warp_fold<4>(sum, Sum{});
    return {d_output ? g.lse[all.row_of(query)] : INFINITY, inner};
}

/* Tiles that see most keys come first. */
template <typename Format, typename Shape>
__global__ void __launch_bounds__(Shape::THREADS, Shape::RESIDENT) d_queries_matrix_kernel(const HalfBackward g) {
    if constexpr (MATRIX_UNITS) {
        extern __shared__ __align__(128) half_bits panels[];
        half_bits *const queries = panels, *const d_outputs = panels + Shape::OWN,
                         *const stages = d_outputs + Shape::OWN;
        const AttentionOf<half_bits>& s = g.s;
        const int64_t pair = blockIdx.x % s.pairs(), tile = g.template tiles<Shape>() - 1 - blockIdx.x / s.pairs();
        const int first = static_cast<int>(tile) * Shape::ROWS;
        const int end = static_cast<int>(s.last_key(min64(first + Shape::ROWS, s.queries()) - 1)) + 1;
        const int seen_by_all = static_cast<int>(s.last_key(first));
        const QueriesOf all_queries(s, pair);
        const KeysOf all_keys(s, pair, end);
        const auto bring = [&](int key, half_bits* stage) {
            if (key < end) {
                bring_lines<typename Shape::Met, Shape::STEP, Shape::THREADS>(stage, all_keys, s.K, key, s.head_dim);
                bring_lines<typename Shape::Met, Shape::STEP, Shape::THREADS>(stage + Shape::MET, all_keys, s.V, key,
                                                                              s.head_dim);
            }
            end_copies();
        };
        bring_lines<typename Shape::Own, Shape::ROWS, Shape::THREADS>(queries, all_queries, s.Q, first, s.head_dim);
        bring_lines<typename Shape::Own, Shape::ROWS, Shape::THREADS>(d_outputs, all_queries, g.d_output, first,
                                                                      s.head_dim);
        bring(0, stages);
        QueryRow rows[2];
        int last_key[2];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int query = first + Shape::first_row() + row_in_fragment(2 * half);
            rows[half] = query_row(g, all_queries, query);
            last_key[half] = query < all_queries.count ? static_cast<int>(s.last_key(query)) : -1;
            if (lane_of_thread() % 4 == 0) g.rows[pair * g.template padded<Shape>() + query] = rows[half];
        }
        float d_Q[Shape::COLUMN_TILES][4];
        clear(d_Q);
        int now = 0;
        for (int key = 0; key < end; key += Shape::STEP, now = 1 - now) {
            half_bits* const stage = stages + now * Shape::STAGE;
            wait_for_copies<0>(); /* this step's lines are there, */
            __syncthreads();      /* everybody's, and nobody reads those of the step before any more */
            bring(key + Shape::STEP, stages + (1 - now) * Shape::STAGE);
            const bool masked = key + Shape::STEP - 1 > seen_by_all;
            const auto row = [&](int, int n) { return rows[n / 2]; };
            const auto hidden = [&](int j, int n) { return key + column_in_fragments(j, n) > last_key[n / 2]; };
            float P[Shape::STEP_TILES][4], gradients[Shape::STEP_TILES][4];
            multiply_rows<Format, Shape>(queries, stage, P);
            to_probabilities(s.scale, row, P);
            mask(masked, hidden, P);
            multiply_rows<Format, Shape>(d_outputs, stage + Shape::MET, gradients);
            to_gradients(s.scale, row, P, gradients);
            mask(masked, hidden, gradients);
            add_weighted<Format, typename Shape::Summed, true>(gradients, stage, d_Q);
        }
        store_rows<Format, typename Shape::Own>(d_Q, queries, Shape::first_row(), s.head_dim,
                                                [&](int i) { return all_queries.line_of(g.d_Q, first + i); });
    }
}

/* Tiles that most queries see come first. */
template <typename Format, typename Shape>
__global__ void __launch_bounds__(Shape::THREADS, Shape::RESIDENT) d_keys_matrix_kernel(const HalfBackward g) {
    if constexpr (MATRIX_UNITS) {
        extern __shared__ __align__(128) half_bits panels[];
        half_bits *const keys = panels, *const values = panels + Shape::OWN, *const stages = values + Shape::OWN;
        const AttentionOf<half_bits>& s = g.s;
        const int64_t pair = blockIdx.x % s.pairs();
        const int key = static_cast<int>(blockIdx.x / s.pairs()) * Shape::ROWS;
        const int start = g.first_query(key) / Shape::STEP * Shape::STEP;
        const int seeing_all = g.first_query(int64_t{key} + Shape::ROWS - 1);
        const QueriesOf all_queries(s, pair);
        const KeysOf all_keys(s, pair, static_cast<int>(s.kv_len));
        const QueryRow* const all_rows = g.rows + pair * g.template padded<Shape>();
        const auto bring = [&](int query, half_bits* stage) {
            if (query < all_queries.count) {
                bring_lines<typename Shape::Met, Shape::STEP, Shape::THREADS>(stage, all_queries, s.Q, query,
                                                                              s.head_dim);
                bring_lines<typename Shape::Met, Shape::STEP, Shape::THREADS>(stage + Shape::MET, all_queries,
                                                                              g.d_output, query, s.head_dim);
                const int at = static_cast<int>(threadIdx.x) * CHUNK;
                if (at < Shape::STATISTICS)
                    copy_whole(stage + 2 * Shape::MET + at, reinterpret_cast<const half_bits*>(all_rows + query) + at,
                               true);
            }
            end_copies();
        };
        bring_lines<typename Shape::Own, Shape::ROWS, Shape::THREADS>(keys, all_keys, s.K, key, s.head_dim);
        bring_lines<typename Shape::Own, Shape::ROWS, Shape::THREADS>(values, all_keys, s.V, key, s.head_dim);
        bring(start, stages);
        int first_query[2];
#pragma unroll
        for (int half = 0; half < 2; half++)
            first_query[half] = g.first_query(int64_t{key} + Shape::first_row() + row_in_fragment(2 * half));
        float d_K[Shape::COLUMN_TILES][4], d_V[Shape::COLUMN_TILES][4];
        clear(d_K);
        clear(d_V);
        int now = 0;
        for (int query = start; query < all_queries.count; query += Shape::STEP, now = 1 - now) {
            half_bits* const stage = stages + now * Shape::STAGE;
            const QueryRow* const rows = reinterpret_cast<const QueryRow*>(stage + 2 * Shape::MET);
            wait_for_copies<0>(); /* as above */
            __syncthreads();
            bring(query + Shape::STEP, stages + (1 - now) * Shape::STAGE);
            const bool masked = query < seeing_all || query + Shape::STEP > all_queries.count;
            const auto row = [&](int j, int n) { return rows[column_in_fragments(j, n)]; };
            const auto hidden = [&](int j, int n) { /* from it, or no query: 0 times an infinity of a key is NaN */
                                                    const int64_t met = int64_t{query} + column_in_fragments(j, n);
                                                    return met < first_query[n / 2] || met >= all_queries.count;
            };
            float P[Shape::STEP_TILES][4], gradients[Shape::STEP_TILES][4];
            multiply_rows<Format, Shape>(keys, stage, P);
            to_probabilities(s.scale, row, P);
            mask(masked, hidden, P);
            add_weighted<Format, typename Shape::Summed, true>(P, stage + Shape::MET, d_V);
            multiply_rows<Format, Shape>(values, stage + Shape::MET, gradients);
            to_gradients(s.scale, row, P, gradients);
            mask(masked, hidden, gradients);
            add_weighted<Format, typename Shape::Summed, true>(gradients, stage, d_K);
        }
        const auto line_in = [&](half_bits* data) { return [=](int i) { return all_keys.line_of(data, key + i); }; };
        store_rows<Format, typename Shape::Own>(d_K, keys, Shape::first_row(), s.head_dim, line_in(g.d_K));
        store_rows<Format, typename Shape::Own>(d_V, values, Shape::first_row(), s.head_dim, line_in(g.d_V));
    }
}

#endif
