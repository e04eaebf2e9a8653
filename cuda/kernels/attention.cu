/* Attention forward: a block walks the keys that a tile of queries sees, with the online softmax (Dao et al. 2022,
 * FlashAttention). */
#include "attention.cuh"
#include "online.cuh"

namespace {

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
    const int64_t slices = slices_of<L>(s), each = blockIdx.x / slices, tile = s.query_tiles() - 1 - each / f.parts / s.pairs();
    Walk w = {blockIdx.x % slices * L::WIDTH, each % f.parts, each / f.parts % s.pairs(), tile * LINES, 0, 0};
    const int64_t keys = s.last_key(min64(w.query + LINES, s.queries()) - 1) + 1, tiles = ceil_div(keys, LINES);
    w.first_key = tiles * w.part / f.parts * LINES;
    w.end_key = min64(tiles * (w.part + 1) / f.parts * LINES, keys);
    return w;
}

/* Of each line of a thread, the peak of the scores so far; `sum` is of its own columns alone. */
struct Peaks {
    Peak of[4] = {{-INFINITY, 0.0f}, {-INFINITY, 0.0f}, {-INFINITY, 0.0f}, {-INFINITY, 0.0f}};

    /* Turns scores into exp(score - most) and brings what was summed under an earlier maximum under this one. */
    template <typename L> __device__ void include(Share<L, LINES>& scores, Share<L, L::WIDTH>& sums) {
#pragma unroll
        for (int r = 0; r < 4; r++) {
            float most = of[r].most, sum = 0.0f;
#pragma unroll
            for (int c = 0; c < scores.COUNT; c++) most = fmaxf(most, scores.at[r][c]);
            most = warp_fold<L::ACROSS>(most, Max{});
            const float shift = shift_of(most), shrink = expf(of[r].most - shift);
#pragma unroll
            for (int c = 0; c < scores.COUNT; c++) {
                scores.at[r][c] = expf(scores.at[r][c] - shift);
                sum += scores.at[r][c];
            }
#pragma unroll
            for (int c = 0; c < sums.COUNT; c++) sums.at[r][c] *= shrink;
            of[r] = {most, of[r].sum * shrink + sum};
        }
    }
};

template <typename L>
__device__ void store_part(const Forward& f, const QueryTile& tile, const Walk& w, const Peaks& peaks, Share<L, L::WIDTH>& sums) {
    const int64_t rows = w.part * f.rows();
    const auto lines = [&](int line) {
        return tile.offset[line] < 0 ? nullptr : f.part_output + (rows + tile.row[line]) * f.s.head_dim;
    };
    store_lines<L>(lines, w.column, f.s.head_dim, sums);
#pragma unroll
    for (int r = 0; r < 4; r++)
        if (w.column == 0 && L::lane() == 0 && tile.offset[L::line(r)] >= 0) f.part_peaks[rows + tile.row[L::line(r)]] = peaks.of[r];
}

template <typename L>
__device__ void store_whole(const Forward& f, const QueryTile& tile, const Walk& w, const Peaks& peaks, Share<L, L::WIDTH>& sums) {
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const float factor = 1.0f / peaks.of[r].sum;
#pragma unroll
        for (int c = 0; c < sums.COUNT; c++) sums.at[r][c] *= factor;
        if (f.lse && w.column == 0 && L::lane() == 0 && tile.offset[L::line(r)] >= 0)
            f.lse[tile.row[L::line(r)]] = peaks.of[r].most + logf(peaks.of[r].sum);
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
    Share<L, L::WIDTH> sums;
    sums.fill(0.0f);
    Peaks peaks;
    for (int64_t key = w.first_key; key < w.end_key; key += LINES) {
        const KeyLines<const float> keys = key_lines(s, s.K, w.pair, key, w.end_key);
        Share<L, LINES> scores;
        products.dot(QueryLines<const float>{s.Q, tile}, keys, s.head_dim, scores);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const int last = tile.last_key[L::line(r)];
#pragma unroll
            for (int c = 0; c < scores.COUNT; c++)
                scores.at[r][c] = static_cast<int>(key) + L::column(c) > last ? -INFINITY : s.scale * scores.at[r][c];
        }
        peaks.include(scores, sums);
        products.weigh(scores);
        products.mix(key_lines(s, s.V, w.pair, key, w.end_key), static_cast<int>(keys.count), w.column, s.head_dim, sums);
    }
#pragma unroll
    for (int r = 0; r < 4; r++) peaks.of[r].sum = warp_fold<L::ACROSS>(peaks.of[r].sum, Sum{});
    if (f.parts > 1) store_part(f, tile, w, peaks, sums);
    else store_whole(f, tile, w, peaks, sums);
}

constexpr int COMBINE_THREADS = 128;

/* A warp to a row, a lane to a part. */
__global__ void __launch_bounds__(COMBINE_THREADS) combine_kernel(const Forward f) {
    const Attention& s = f.s;
    const int64_t row = blockIdx.x * int64_t{COMBINE_THREADS / WARP} + threadIdx.x / WARP, rows = f.rows();
    if (row >= rows) return;
    const int lane = lane_of_thread();
    const Peak own = lane < f.parts ? f.part_peaks[lane * rows + row] : Peak{-INFINITY, 0.0f}, all = warp_fold(own, Merge{});
    const float factor = expf(own.most - shift_of(all.most)) / all.sum;
    const int64_t head = row / s.q_len, b = head / s.n_q_heads, position = row % s.q_len;
    float* const output = f.output + ((b * s.q_len + position) * s.n_q_heads + head % s.n_q_heads) * s.head_dim;
    for (int64_t base = 0; base < s.head_dim; base += WARP) {
        const int64_t column = base + lane;
        float sum = 0.0f;
        for (int part = 0; part < f.parts; part++) {
            const float weight = __shfl_sync(ALL_LANES, factor, part);
            if (column < s.head_dim) sum = fmaf(weight, f.part_output[(part * rows + row) * s.head_dim + column], sum);
        }
        if (column < s.head_dim) output[column] = sum;
    }
    if (f.lse && lane == 0) f.lse[row] = all.most + logf(all.sum);
}

template <typename L> int32_t launch(Forward f, cudaStream_t stream) {
    const int64_t blocks = f.s.query_tiles() * f.s.pairs() * slices_of<L>(f.s);
    f.parts = parts_for(blocks, f.s.key_tiles());
    if (blocks * f.parts > INT32_MAX) return ASSAYER_UNSUPPORTED; /* past a grid's first axis */
    if (f.parts == 1) {
        forward_kernel<L><<<blocks_for(blocks, 1), L::THREADS, 0, stream>>>(f);
        return launched();
    }
    const Scratch scratch(f.parts * f.rows() * static_cast<int64_t>(sizeof(Peak) + f.s.head_dim * sizeof(float)), stream);
    TRY(scratch.code());
    f.part_output = scratch.as<float>(); /* first, where quads are aligned */
    f.part_peaks = reinterpret_cast<Peak*>(f.part_output + f.parts * f.rows() * f.s.head_dim);
    forward_kernel<L><<<blocks_for(blocks * f.parts, 1), L::THREADS, 0, stream>>>(f);
    combine_kernel<<<blocks_for(f.rows(), COMBINE_THREADS / WARP), COMBINE_THREADS, 0, stream>>>(f);
    return launched();
}

int32_t forward(const Forward& f, void* stream) {
    const bool quads = rows_of_quads(f.s.head_dim, f.s.Q, f.s.K, f.s.V, f.output);
    return with_attention_layout<128>(f.s.head_dim, quads,
                                      [=](auto layout) { return launch<decltype(layout)>(f, stream_of(stream)); });
}

} // namespace

int32_t cuda_flash_attention(const float* Q, const float* K, const float* V, float* output, int batch, int n_q_heads, int n_kv_heads,
                             int seq_len, int head_dim, float scale, void* stream) {
    CHECK_ARRAY(Q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(K, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(V, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(output, batch, seq_len, n_q_heads, head_dim);
    CHECK(n_q_heads % n_kv_heads == 0);
    Forward f = {};
    f.s = {Q, K, V, batch, n_q_heads, n_kv_heads, seq_len, seq_len, seq_len, head_dim, scale};
    f.output = output;
    return forward(f, stream);
}

int32_t cuda_attention_forward(const float* Q, const float* K, const float* V, float* output, float* lse, int batch, int n_q_heads,
                               int n_kv_heads, int q_len, int kv_len, int kv_capacity, int head_dim, float scale, void* stream) {
    CHECK_ARRAY(Q, batch, q_len, n_q_heads, head_dim);
    CHECK_ARRAY(K, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK_ARRAY(V, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK_ARRAY(output, batch, q_len, n_q_heads, head_dim);
    CHECK_ARRAY(lse, batch, n_q_heads, q_len);
    CHECK(n_q_heads % n_kv_heads == 0 && kv_len >= q_len && kv_len <= kv_capacity);
    Forward f = {};
    f.s = {Q, K, V, batch, n_q_heads, n_kv_heads, q_len, kv_len, kv_capacity, head_dim, scale};
    f.output = output;
    f.lse = lse;
    return forward(f, stream);
}
