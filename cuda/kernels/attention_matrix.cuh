/* Attention forward in 16 bits by matrix units, with the online softmax (Dao et al. 2022, FlashAttention; 2023,
 * FlashAttention-2).
 *
 * A block has ROWS queries of a (batch, KV head), a warp 16 * DOWN of them in registers, their sums too; keys and
 * values come in turns, KEYS at a time, two stages each.  What bounds it are the matrix units: weights are float32 by
 * declaration, and go into the second product as three numbers of bfloat16, each what those before leave of them. Parts
 * in float16, which ends at 2^-24, would leave nothing of a small weight: behind a key that outweighs the others and
 * has no value, as an attention sink, small weights are all there is. */
#ifndef ASSAYER_ATTENTION_MATRIX_CUH
#define ASSAYER_ATTENTION_MATRIX_CUH

#include "attention.cuh"
#include "matrix_tile.cuh"
#include "online.cuh"

#include <cmath>

/* Heads of WIDTH numbers, or of fewer. */
template <int WIDTH_, int DOWN_, int WARPS_, int RESIDENT_> struct FlashShape {
    static constexpr int WIDTH = WIDTH_, DOWN = DOWN_, WARPS = WARPS_, RESIDENT = RESIDENT_;
    static constexpr int THREADS = WARPS * WARP, ROWS = 16 * DOWN * WARPS, KEYS = 64;
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

/* Whose a query of a (batch, KV head) is: those of a position's heads stand side by side. */
struct Position {
    int64_t b, head, position;
};

__device__ inline Position position_of(const AttentionOf<half_bits>& s, int64_t pair, int64_t query) {
    return {pair / s.n_kv_heads, pair % s.n_kv_heads * s.group() + query % s.group(), query / s.group()};
}

__device__ inline int64_t place_in_output(const AttentionOf<half_bits>& s, const Position& p) {
    return ((p.b * s.q_len + p.position) * s.n_q_heads + p.head) * s.head_dim;
}

/* Begins to bring LINES lines of a panel; line(i) says where one lies, null where there is none.  Beyond head_dim and
 * where there is no line come zeros. */
template <typename Panel, int LINES, int THREADS, typename Line>
__device__ void bring_lines(half_bits* panel, int64_t head_dim, const half_bits* any, const Line& line) {
    constexpr int ACROSS = Panel::ACROSS;
#pragma unroll
    for (int i = 0; i < LINES * ACROSS / THREADS; i++) {
        const int at = static_cast<int>(threadIdx.x) + i * THREADS, chunk = at % ACROSS * CHUNK;
        const half_bits* const from = line(at / ACROSS);
        const bool there = from && chunk < head_dim;
        copy_whole(panel + Panel::place(at / ACROSS, at % ACROSS), there ? from + chunk : any, there);
    }
}

/* Two numbers of 16 bits as a register holds them. */
template <typename Format> __device__ uint32_t pair_of(float low, float high) {
    return Format::narrow(low) | static_cast<uint32_t>(Format::narrow(high)) << 16;
}

template <typename Format, typename Shape> struct Flash {
    static constexpr int DOWN = Shape::DOWN, KEY_TILES = Shape::KEY_TILES, COLUMN_TILES = Shape::COLUMN_TILES;
    static constexpr int PARTS = 3; /* of a weight: 24 binary digits */
    static_assert(std::is_same_v<Format, Bf16>, "parts of float16 lose small weights");
    using Number = typename Format::Number;

    uint32_t queries[DOWN][Shape::SLICES][4];
    float scores[DOWN][KEY_TILES][4];
    float sums[DOWN][COLUMN_TILES][4];
    Peak peaks[DOWN][2]; /* `sum` is of the lane's own columns */
    int last_key[DOWN][2];

    static __device__ int first_row() { return static_cast<int>(threadIdx.x) / WARP * 16 * DOWN; }

    __device__ void begin(const AttentionOf<half_bits>& s, int64_t first) {
#pragma unroll
        for (int i = 0; i < DOWN; i++) {
#pragma unroll
            for (int j = 0; j < COLUMN_TILES; j++)
#pragma unroll
                for (int n = 0; n < 4; n++) sums[i][j][n] = 0.0f;
#pragma unroll
            for (int half = 0; half < 2; half++) {
                peaks[i][half] = {-INFINITY, 0.0f};
                const int64_t query = first + first_row() + 16 * i + 8 * half + lane_of_thread() / 4;
                last_key[i][half] = query < s.queries() ? static_cast<int>(s.last_key(query)) : -1;
            }
        }
    }

    __device__ void load_queries(const half_bits* panel) {
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (int k = 0; k < Shape::SLICES; k++)
                load_fragments<false>(queries[i][k], panel + Shape::Queries::template place_of_lane<true>(
                                                                 first_row() + 16 * i, k * SLICE));
    }

    /* scores = scale * Q . K^T, of keys from `key` on; -infinity where a query does not see them. */
    __device__ void score(const half_bits* keys, int key, float scale, bool masked) {
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (int j = 0; j < KEY_TILES; j++)
#pragma unroll
                for (int n = 0; n < 4; n++) scores[i][j][n] = 0.0f;
#pragma unroll
        for (int k = 0; k < Shape::SLICES; k++) {
#pragma unroll
            for (int j = 0; j < KEY_TILES; j += 2) {
                uint32_t two[4];
                load_fragments<false>(two, keys + Shape::Keys::template place_of_lane<false>(8 * j, k * SLICE));
                const uint32_t left[2] = {two[0], two[1]}, right[2] = {two[2], two[3]};
#pragma unroll
                for (int i = 0; i < DOWN; i++) {
                    add_slice(Number(), scores[i][j], queries[i][k], left);
                    add_slice(Number(), scores[i][j + 1], queries[i][k], right);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (int j = 0; j < KEY_TILES; j++)
#pragma unroll
                for (int n = 0; n < 4; n++) {
                    const bool hidden = masked && key + 8 * j + lane_of_thread() % 4 * 2 + n % 2 > last_key[i][n / 2];
                    scores[i][j][n] = hidden ? -INFINITY : scale * scores[i][j][n];
                }
    }

    /* Turns scores into exp(score - maximum) and brings what was summed under an earlier maximum under this one. */
    __device__ void weigh() {
        constexpr float LOG2_E = 1.4426950408889634f;
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                Peak& peak = peaks[i][half];
                float row_max = peak.max, sum = 0.0f;
#pragma unroll
                for (int j = 0; j < KEY_TILES; j++)
                    row_max = fmaxf(row_max, fmaxf(scores[i][j][2 * half], scores[i][j][2 * half + 1]));
                row_max = warp_fold<4>(row_max, Max{});
                const float shift = shift_of(row_max), shrink = exp2f((peak.max - shift) * LOG2_E);
#pragma unroll
                for (int j = 0; j < KEY_TILES; j++)
#pragma unroll
                    for (int n = 2 * half; n < 2 * half + 2; n++) {
                        scores[i][j][n] = exp2f((scores[i][j][n] - shift) * LOG2_E);
                        sum += scores[i][j][n];
                    }
#pragma unroll
                for (int j = 0; j < COLUMN_TILES; j++) {
                    sums[i][j][2 * half] *= shrink;
                    sums[i][j][2 * half + 1] *= shrink;
                }
                peak = {row_max, peak.sum * shrink + sum};
            }
    }

    /* Two weights as PARTS pairs of 16-bit numbers, each pair what those before leave. */
    static __device__ void split(const float* two, uint32_t (&weights)[PARTS][DOWN][4], int i, int r) {
        float low = two[0], high = two[1];
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            const uint32_t pair = pair_of<Format>(low, high);
            weights[part][i][r] = pair;
            low -= Format::widen(static_cast<half_bits>(pair));
            high -= Format::widen(static_cast<half_bits>(pair >> 16));
        }
    }

    /* sums += weights . V: what scores are to the lane that has them is a factor's fragment as it stands. */
    __device__ void add_weighted(const half_bits* values) {
#pragma unroll
        for (int k = 0; k < Shape::KEYS / SLICE; k++) {
            uint32_t weights[PARTS][DOWN][4];
#pragma unroll
            for (int i = 0; i < DOWN; i++)
#pragma unroll
                for (int r = 0; r < 4; r++) split(scores[i][2 * k + r / 2] + r % 2 * 2, weights, i, r);
#pragma unroll
            for (int j = 0; j < COLUMN_TILES; j += 2) {
                uint32_t two[4];
                load_fragments<true>(two, values + Shape::Values::template place_of_lane<false>(8 * j, k * SLICE));
                const uint32_t left[2] = {two[0], two[1]}, right[2] = {two[2], two[3]};
#pragma unroll
                for (int i = 0; i < DOWN; i++)
#pragma unroll
                    for (int part = 0; part < PARTS; part++) {
                        multiply_fragments(Number(), sums[i][j], weights[part][i], left);
                        multiply_fragments(Number(), sums[i][j + 1], weights[part][i], right);
                    }
            }
        }
    }

    /* By the warp's rows of the queries' panel, which nobody reads any more, so that a lane stores sixteen bytes. */
    __device__ void store(const HalfForward& f, int64_t pair, int64_t first, half_bits* panel) {
        const int lane = lane_of_thread();
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                Peak& peak = peaks[i][half];
                const float sum = warp_fold<4>(peak.sum, Sum{}), factor = 1.0f / sum;
                const int row = first_row() + 16 * i + 8 * half + lane / 4;
                if (lane % 4 == 0 && first + row < f.s.queries()) {
                    const Position p = position_of(f.s, pair, first + row);
                    f.lse[(p.b * f.s.n_q_heads + p.head) * f.s.q_len + p.position] = peak.max + logf(sum);
                }
#pragma unroll
                for (int j = 0; j < COLUMN_TILES; j++)
                    *reinterpret_cast<uint32_t*>(panel + Shape::Queries::place(row, j) + lane % 4 * 2) =
                        pair_of<Format>(sums[i][j][2 * half] * factor, sums[i][j][2 * half + 1] * factor);
            }
        __syncwarp();
        constexpr int ACROSS = Shape::WIDTH / CHUNK;
        for (int at = lane; at < 16 * DOWN * ACROSS; at += WARP) {
            const int row = first_row() + at / ACROSS, chunk = at % ACROSS;
            if (first + row >= f.s.queries() || chunk * CHUNK >= f.s.head_dim) continue;
            half_bits* const to = f.output + place_in_output(f.s, position_of(f.s, pair, first + row));
            store_pack<CHUNK>(to + chunk * CHUNK, load_pack<CHUNK>(panel + Shape::Queries::place(row, chunk)));
        }
    }
};

/* Tiles that see most keys come first. */
template <typename Format, typename Shape>
__global__ void __launch_bounds__(Shape::THREADS, Shape::RESIDENT) attention_matrix_kernel(const HalfForward f) {
    if constexpr (MATRIX_UNITS) {
        extern __shared__ __align__(128) half_bits panels[];
        constexpr int STAGE = Shape::KEYS * Shape::WIDTH;
        half_bits *const keys = panels + Shape::ROWS * Shape::WIDTH, *const values = keys + 2 * STAGE;
        const AttentionOf<half_bits>& s = f.s;
        const int64_t pair = blockIdx.x % s.pairs(), tile = f.template tiles<Shape>() - 1 - blockIdx.x / s.pairs();
        const int64_t first = tile * Shape::ROWS, last = min64(first + Shape::ROWS, s.queries()) - 1;
        const int end = static_cast<int>(s.last_key(last)) + 1, seen_by_all = static_cast<int>(s.last_key(first));
        const int64_t line = s.n_kv_heads * s.head_dim;
        const int64_t begin = pair / s.n_kv_heads * s.kv_capacity * line + pair % s.n_kv_heads * s.head_dim;
        const auto bring = [&](half_bits* to, const half_bits* from, int key) {
            if (key < end)
                bring_lines<typename Shape::Keys, Shape::KEYS, Shape::THREADS>(to, s.head_dim, from, [&](int i) {
                    return key + i < end ? from + begin + (key + i) * line : nullptr;
                });
            end_copies();
        };
        bring_lines<typename Shape::Queries, Shape::ROWS, Shape::THREADS>(panels, s.head_dim, s.Q, [&](int i) {
            return first + i <= last ? s.Q + place_in_output(s, position_of(s, pair, first + i)) : nullptr;
        });
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
            flash.add_weighted(values + now * STAGE);
        }
        flash.store(f, pair, first, panels);
    }
}

#endif
