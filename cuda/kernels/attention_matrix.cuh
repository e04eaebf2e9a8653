/* Attention forward in 16 bits by matrix units, with the online softmax (Dao et al. 2022, FlashAttention; 2023,
 * FlashAttention-2).
 *
 * A block has ROWS queries of a (batch, KV head), a warp 16 of them in registers, their sums too; keys and values come
 * in turns, KEYS at a time, two stages each.  For 4 * ROWS * keys * head_dim products, three of them of the parts of
 * weights (of float16 7 and six), a block moves 4 * (ROWS + keys) * head_dim bytes: what bounds it are the matrix
 * units. */
#ifndef ASSAYER_ATTENTION_MATRIX_CUH
#define ASSAYER_ATTENTION_MATRIX_CUH

#include "attention_fragments.cuh"
#include "attention_lines.cuh"
#include "online.cuh"

#include <cmath>

/* Heads of WIDTH numbers, or of fewer. */
template <int WIDTH_, int WARPS_, int RESIDENT_> struct FlashShape {
    static constexpr int WIDTH = WIDTH_, WARPS = WARPS_, RESIDENT = RESIDENT_;
    static constexpr int THREADS = WARPS * WARP, ROWS = 16 * WARPS, KEYS = 64;
    static constexpr int SLICES = WIDTH / SLICE, KEY_TILES = KEYS / 8, COLUMN_TILES = WIDTH / 8;
    static constexpr int SHARED = (ROWS + 4 * KEYS) * WIDTH; /* numbers */
    using Queries = HalfPanel<ROWS, WIDTH, true>;
    using Keys = HalfPanel<KEYS, WIDTH, true>;
    using Values = HalfPanel<WIDTH, KEYS, false>; /* laid out as keys, read with the keys as depth */
};

struct HalfForward {
    AttentionOf<half_bits> s;
    half_bits* output;
    float* lse;

    template <typename Shape> __host__ __device__ int64_t tiles() const { return ceil_div(s.queries(), Shape::ROWS); }
};

template <typename Format, typename Shape> struct Flash {
    static constexpr int KEY_TILES = Shape::KEY_TILES, COLUMN_TILES = Shape::COLUMN_TILES;
    using Number = typename Format::Number;

    RowFragment queries[Shape::SLICES];
    float scores[KEY_TILES][4];
    float sums[COLUMN_TILES][4];
    Peak peaks[2]; /* `sum` is of the lane's own columns */
    int last_key[2];

    static __device__ int first_row() { return static_cast<int>(threadIdx.x) / WARP * 16; }

    __device__ void begin(const AttentionOf<half_bits>& s, int first) {
        clear(sums);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            peaks[half] = {-INFINITY, 0.0f};
            const int query = first + first_row() + row_in_fragment(2 * half);
            last_key[half] = query < s.queries() ? static_cast<int>(s.last_key(query)) : -1;
        }
    }

    __device__ void load_queries(const half_bits* panel) {
#pragma unroll
        for (int k = 0; k < Shape::SLICES; k++)
            queries[k] = row_fragment<typename Shape::Queries>(panel, first_row(), k);
    }

    /* scores = scale * Q . K^T, of keys from `key` on; -infinity where a query does not see them. */
    __device__ void score(const half_bits* keys, int key, float scale, bool masked) {
        multiply_lines<Number, typename Shape::Keys, Shape::SLICES>([&](int k) { return queries[k]; }, keys, scores);
#pragma unroll
        for (int j = 0; j < KEY_TILES; j++)
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const bool hidden = masked && key + column_in_fragments(j, n) > last_key[n / 2];
                scores[j][n] = hidden ? -INFINITY : scale * scores[j][n];
            }
    }

    /* Turns scores into exp(score - row_max) and brings what was summed under an earlier maximum under this one. */
    __device__ void weigh() {
        constexpr float LOG2_E = 1.4426950408889634f;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            Peak& peak = peaks[half];
            float row_max = peak.max, sum = 0.0f;
#pragma unroll
            for (int j = 0; j < KEY_TILES; j++)
                row_max = fmaxf(row_max, fmaxf(scores[j][2 * half], scores[j][2 * half + 1]));
            row_max = warp_fold<4>(row_max, Max{});
            const float shift = shift_of(row_max), shrink = exp2f((peak.max - shift) * LOG2_E);
#pragma unroll
            for (int j = 0; j < KEY_TILES; j++)
#pragma unroll
                for (int n = 2 * half; n < 2 * half + 2; n++) {
                    scores[j][n] = exp2f((scores[j][n] - shift) * LOG2_E);
                    sum += scores[j][n];
                }
#pragma unroll
            for (int j = 0; j < COLUMN_TILES; j++) {
                sums[j][2 * half] *= shrink;
                sums[j][2 * half + 1] *= shrink;
            }
            peak = {row_max, peak.sum * shrink + sum};
        }
    }

    /* By the warp's rows of the queries' panel. */
    __device__ void store(const HalfForward& f, const QueriesOf& all, int first, half_bits* panel) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const float sum = warp_fold<4>(peaks[half].sum, Sum{}), factor = 1.0f / sum;
            const int query = first + first_row() + row_in_fragment(2 * half);
            if (lane_of_thread() % 4 == 0 && query < all.count) f.lse[all.row_of(query)] = peaks[half].max + logf(sum);
#pragma unroll
            for (int j = 0; j < COLUMN_TILES; j++) {
                sums[j][2 * half] *= factor;
                sums[j][2 * half + 1] *= factor;
            }
        }
        store_rows<Format, typename Shape::Queries>(sums, panel, first_row(), f.s.head_dim,
                                                    [&](int i) { return all.line_of(f.output, first + i); });
    }
};

/* Tiles that see most keys come first. */
template <typename Format, typename Shape>
__global__ void __launch_bounds__(Shape::THREADS, resident<Shape>()) attention_matrix_kernel(const HalfForward f) {
    if constexpr (MATRIX_UNITS<__nv_bfloat16>) {
        extern __shared__ __align__(128) half_bits panels[];
        constexpr int STAGE = Shape::KEYS * Shape::WIDTH;
        half_bits *const keys = panels + Shape::ROWS * Shape::WIDTH, *const values = keys + 2 * STAGE;
        const AttentionOf<half_bits>& s = f.s;
        const int64_t pair = blockIdx.x % s.pairs(), tile = f.template tiles<Shape>() - 1 - blockIdx.x / s.pairs();
        const int first = static_cast<int>(tile) * Shape::ROWS;
        const int end = static_cast<int>(s.last_key(min64(first + Shape::ROWS, s.queries()) - 1)) + 1;
        const int seen_by_all = static_cast<int>(s.last_key(first));
        const QueriesOf all_queries(s, pair);
        const KeysOf all_keys(s, pair, end);
        const auto bring = [&](half_bits* to, const half_bits* from, int key) {
            if (key < end)
                bring_lines<typename Shape::Keys, Shape::KEYS, Shape::THREADS>(to, all_keys, from, key, s.head_dim);
            end_copies();
        };
        bring_lines<typename Shape::Queries, Shape::ROWS, Shape::THREADS>(panels, all_queries, s.Q, first, s.head_dim);
        bring(keys, s.K, 0);
        bring(values, s.V, 0);
        Flash<Format, Shape> flash;
        flash.begin(s, first);
        int now = 0;
        for (int key = 0; key < end; key += Shape::KEYS, now = 1 - now) {
            wait_for_copies<1>(); /* this step's keys are there, */
            __syncthreads();      /* and nobody reads those of the step before any more */
            if (key == 0) flash.load_queries(panels);
            bring(keys + (1 - now) * STAGE, s.K, key + Shape::KEYS);
            flash.score(keys + now * STAGE, key, s.scale, key + Shape::KEYS - 1 > seen_by_all);
            flash.weigh();
            wait_for_copies<1>(); /* this step's values, as above */
            __syncthreads();
            bring(values + (1 - now) * STAGE, s.V, key + Shape::KEYS);
            add_weighted<Format, typename Shape::Values, false>(flash.scores, values + now * STAGE, flash.sums);
        }
        flash.store(f, all_queries, first, panels);
    }
}

#endif
