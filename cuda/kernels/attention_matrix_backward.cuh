/* Attention backward in 16 bits by matrix units, without atomics (Dao et al. 2023, FlashAttention-2, in two walks): one
 * kernel walks the keys of a tile of queries for d_Q, one the queries that see a tile of keys for d_K and d_V.
 *
 * A block has ROWS queries (keys) of a (batch, KV head) in shared memory, a warp 16 of them, their sums in registers;
 * what they meet comes in turns, STEP lines at a time, in two stages.  For 5 (8) * ROWS * met * head_dim products of
 * bfloat16, as a weight counts three times (of float16 8 and 14: six times), a block moves 4 * (2 * ROWS + met) *
 * head_dim bytes: what bounds both kernels are the matrix units.  One walk with atomics would need 11 products instead
 * of 13, and another order each time. */
#ifndef ASSAYER_ATTENTION_MATRIX_BACKWARD_CUH
#define ASSAYER_ATTENTION_MATRIX_BACKWARD_CUH

#include "attention_gradients.cuh"

/* Tiles that see most keys come first. */
template <typename Format, typename Shape>
__global__ void __launch_bounds__(Shape::THREADS, resident<Shape>()) d_queries_matrix_kernel(const HalfBackward g) {
    if constexpr (MATRIX_UNITS<__nv_bfloat16>) {
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
                bring_both<typename Shape::Met, Shape::STEP, Shape::THREADS>(stage, all_keys, s.K, s.V, key,
                                                                             s.head_dim);
            }
            end_copies();
        };
        bring_both<typename Shape::Own, Shape::ROWS, Shape::THREADS>(queries, all_queries, s.Q, g.d_output, first,
                                                                     s.head_dim);
        bring(0, stages);
        QueryRow rows[2];
        int last_key[2];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int query = first + Shape::first_row() + row_in_fragment(2 * half);
            rows[half] = query_row<Format>(g, all_queries, query);
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
__global__ void __launch_bounds__(Shape::THREADS, resident<Shape>()) d_keys_matrix_kernel(const HalfBackward g) {
    if constexpr (MATRIX_UNITS<__nv_bfloat16>) {
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
                bring_both<typename Shape::Met, Shape::STEP, Shape::THREADS>(stage, all_queries, s.Q, g.d_output, query,
                                                                             s.head_dim);
                const int at = static_cast<int>(threadIdx.x) * CHUNK;
                if (at < Shape::STATISTICS)
                    copy_whole(stage + 2 * Shape::MET + at, reinterpret_cast<const half_bits*>(all_rows + query) + at,
                               true);
            }
            end_copies();
        };
        bring_both<typename Shape::Own, Shape::ROWS, Shape::THREADS>(keys, all_keys, s.K, s.V, key, s.head_dim);
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
