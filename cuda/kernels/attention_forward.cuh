/* The kernel of attention forward: a block walks the keys that a tile of queries sees, with the online softmax (Dao et
 * al. 2022, FlashAttention). */
#ifndef ASSAYER_ATTENTION_FORWARD_CUH
#define ASSAYER_ATTENTION_FORWARD_CUH

#include "attention.cuh"
#include "online.cuh"

/* With several parts to a tile's keys each part leaves its sums, undivided, with their peaks: combine_kernel. */
struct Forward {
    Attention s;
    float *output, *lse; /* lse may be null */
    int64_t parts;
    float* part_output; /* [parts, rows of lse, head_dim] */
    Peak* part_peaks;   /* [parts, rows of lse] */

    __host__ __device__ int64_t rows() const { return s.batch * s.n_q_heads * s.q_len; }
};

/* Which keys of which tile a block walks, and which columns it writes. */
struct Walk {
    int64_t column, part, pair, query, first_key, end_key;
};

/* Tiles that see most keys come first. */
template <typename L> __device__ Walk walk_of(const Forward& f) {
    const Attention& s = f.s;
    const int64_t slices = slices_of<L>(s), each = blockIdx.x / slices;
    const int64_t tile = s.query_tiles() - 1 - each / f.parts / s.pairs();
    Walk w = {blockIdx.x % slices * L::WIDTH, each % f.parts, each / f.parts % s.pairs(), tile * LINES, 0, 0};
    const int64_t keys = s.last_key(min64(w.query + LINES, s.queries()) - 1) + 1, tiles = ceil_div(keys, LINES);
    w.first_key = tiles * w.part / f.parts * LINES;
    w.end_key = min64(tiles * (w.part + 1) / f.parts * LINES, keys);
    return w;
}

/* Of each line of a thread, the peak of the scores so far; `sum` is of its own columns alone. */
struct Peaks {
    Peak of[4] = {{-INFINITY, 0.0f}, {-INFINITY, 0.0f}, {-INFINITY, 0.0f}, {-INFINITY, 0.0f}};

    /* Turns scores into exp(score - maximum) and brings what was summed under an earlier maximum under this one. */
    template <typename L> __device__ void include(Fragment<L, LINES>& scores, Fragment<L, L::WIDTH>& sums) {
#pragma unroll
        for (int r = 0; r < 4; r++) {
            float row_max = of[r].max, sum = 0.0f;
#pragma unroll
            for (int c = 0; c < scores.COUNT; c++) row_max = fmaxf(row_max, scores.at[r][c]);
            row_max = warp_fold<L::ACROSS>(row_max, Max{});
            const float shift = shift_of(row_max), shrink = expf(of[r].max - shift);
#pragma unroll
            for (int c = 0; c < scores.COUNT; c++) {
                scores.at[r][c] = expf(scores.at[r][c] - shift);
                sum += scores.at[r][c];
            }
#pragma unroll
            for (int c = 0; c < sums.COUNT; c++) sums.at[r][c] *= shrink;
            of[r] = {row_max, of[r].sum * shrink + sum};
        }
    }
};

/* Where the lines of a part go. */
struct PartLines {
    const Forward& f;
    const QueryTile& tile;
    int64_t rows; /* of the parts before */
    __device__ bool has(int line) const { return tile.offset[line] >= 0; }
    __device__ float* at(int line) const { return f.part_output + (rows + tile.row[line]) * f.s.head_dim; }
};

template <typename L>
__device__ void store_part(const Forward& f, const QueryTile& tile, const Walk& w, const Peaks& peaks,
                           Fragment<L, L::WIDTH>& sums) {
    const int64_t rows = w.part * f.rows();
    store_lines<L>(PartLines{f, tile, rows}, w.column, f.s.head_dim, sums);
#pragma unroll
    for (int r = 0; r < 4; r++)
        if (w.column == 0 && L::lane() == 0 && tile.offset[L::line(r)] >= 0)
            f.part_peaks[rows + tile.row[L::line(r)]] = peaks.of[r];
}

template <typename L>
__device__ void store_whole(const Forward& f, const QueryTile& tile, const Walk& w, const Peaks& peaks,
                            Fragment<L, L::WIDTH>& sums) {
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const float factor = 1.0f / peaks.of[r].sum;
#pragma unroll
        for (int c = 0; c < sums.COUNT; c++) sums.at[r][c] *= factor;
        if (f.lse && w.column == 0 && L::lane() == 0 && tile.offset[L::line(r)] >= 0)
            f.lse[tile.row[L::line(r)]] = peaks.of[r].max + logf(peaks.of[r].sum);
    }
    store_lines<L>(QueryLines<float>{f.output, tile}, w.column, f.s.head_dim, sums);
}

template <typename L> __global__ void __launch_bounds__(L::THREADS, L::BLOCKS) forward_kernel(const Forward f) {
    __shared__ __align__(16) Panels<L> panels;
    __shared__ QueryTile tile;
    const Attention& s = f.s;
    const Walk w = walk_of<L>(f);
    tile.fill(s, w.pair, w.query);
    __syncthreads();
    Products<L> products(panels);
    Fragment<L, L::WIDTH> sums;
    sums.fill(0.0f);
    Peaks peaks;
    for (int64_t key = w.first_key; key < w.end_key; key += LINES) {
        const KeyLines<const float> keys = key_lines(s, s.K, w.pair, key, w.end_key);
        Fragment<L, LINES> scores;
        products.dot(QueryLines<const float>{s.Q, tile}, keys, s.head_dim, scores);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const int last = tile.last_key[L::line(r)];
#pragma unroll
            for (int c = 0; c < scores.COUNT; c++)
                scores.at[r][c] = static_cast<int>(key) + L::column(c) > last ? -INFINITY : s.scale * scores.at[r][c];
        }
        peaks.include(scores, sums);
        products.store_weights(scores);
        products.add_weighted(key_lines(s, s.V, w.pair, key, w.end_key), static_cast<int>(keys.count), w.column,
                              s.head_dim, sums);
    }
#pragma unroll
    for (int r = 0; r < 4; r++) peaks.of[r].sum = warp_fold<L::ACROSS>(peaks.of[r].sum, Sum{});
    if (f.parts > 1) store_part(f, tile, w, peaks, sums);
    else store_whole(f, tile, w, peaks, sums);
}

#endif
