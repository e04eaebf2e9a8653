/* What attention forward and backward in 16 bits do alike: lines of queries and keys into shared memory, products of
 * them, sums of lines by weights, results on their way out.
 *
 * A warp has sixteen rows of a tile: fragment [j] of a product holds, in a lane, columns 8 j + lane % 4 * 2 and the
 * next, of row lane / 4 and of the row eight below. */
#ifndef ASSAYER_ATTENTION_FRAGMENTS_CUH
#define ASSAYER_ATTENTION_FRAGMENTS_CUH

#include "attention.cuh"
#include "matrix_tile.cuh"

#include <type_traits>

/* The row of a warp's sixteen, and the column, where a lane has number n of fragment j. */
__device__ inline int row_in_fragment(int n) { return lane_of_thread() / 4 + n / 2 * 8; }
__device__ inline int column_in_fragments(int j, int n) { return 8 * j + lane_of_thread() % 4 * 2 + n % 2; }

template <int COUNT> __device__ void clear(float (&sums)[COUNT][4]) {
#pragma unroll
    for (int j = 0; j < COUNT; j++)
#pragma unroll
        for (int n = 0; n < 4; n++) sums[j][n] = 0.0f;
}

/* The queries of a (batch, KV head) as AttentionOf counts them: where each lies in Q and in lse.  Their number fits in
 * 31 bits: a division of 64 for each line would cost as much as what is done with it. */
struct QueriesOf {
    int64_t offset, row; /* of the first */
    int64_t line;        /* from a position to the next in Q */
    int q_len, head_dim, count;
    uint32_t group;

    __device__ QueriesOf(const AttentionOf<half_bits>& s, int64_t pair)
        : line(s.n_q_heads * s.head_dim), q_len(static_cast<int>(s.q_len)), head_dim(static_cast<int>(s.head_dim)),
          count(static_cast<int>(s.queries())), group(static_cast<uint32_t>(s.group())) {
        const int64_t b = pair / s.n_kv_heads, head = pair % s.n_kv_heads * s.group();
        offset = b * s.q_len * line + head * s.head_dim;
        row = (b * s.n_q_heads + head) * s.q_len;
    }

    /* Where a query's line begins in what has the shape of Q; null where there is no such query. */
    template <typename T> __device__ T* line_of(T* data, int query) const {
        const uint32_t position = static_cast<uint32_t>(query) / group, head = static_cast<uint32_t>(query) % group;
        return query < count ? data + offset + position * line + int64_t{head} * head_dim : nullptr;
    }

    /* Its index in lse. */
    __device__ int64_t row_of(int query) const {
        const uint32_t position = static_cast<uint32_t>(query) / group, head = static_cast<uint32_t>(query) % group;
        return row + int64_t{head} * q_len + position;
    }
};

/* The keys, or values, of a (batch, KV head), up to `end`. */
struct KeysOf {
    int64_t offset, line;
    int end;

    __device__ KeysOf(const AttentionOf<half_bits>& s, int64_t pair, int end_)
        : offset(pair / s.n_kv_heads * s.kv_capacity * s.n_kv_heads * s.head_dim + pair % s.n_kv_heads * s.head_dim),
          line(s.n_kv_heads * s.head_dim), end(end_) {}

    template <typename T> __device__ T* line_of(T* data, int key) const {
        return key < end ? data + offset + key * line : nullptr;
    }
};

/* Begins to bring COUNT lines of `all`, Q or what is laid out as it, from number `first` on, to a panel.  Beyond
 * head_dim, and where there is no line, come zeros. */
template <typename Panel, int COUNT, int THREADS, typename All>
__device__ void bring_lines(half_bits* panel, const All& all, const half_bits* data, int first, int64_t head_dim) {
    constexpr int ACROSS = Panel::ACROSS;
#pragma unroll
    for (int i = 0; i < COUNT * ACROSS / THREADS; i++) {
        const int at = static_cast<int>(threadIdx.x) + i * THREADS, chunk = at % ACROSS * CHUNK;
        const half_bits* const from = all.line_of(data, first + at / ACROSS);
        const bool there = from && chunk < head_dim;
        copy_whole(panel + Panel::place(at / ACROSS, at % ACROSS), there ? from + chunk : data, there);
    }
}

/* Sixteen rows of a panel, one slice of their depth. */
struct RowFragment {
    uint32_t at[4];
};

template <typename Panel> __device__ RowFragment row_fragment(const half_bits* panel, int row, int slice) {
    RowFragment rows;
    load_fragments<false>(rows.at, panel + Panel::template place_of_lane<true>(row, slice * SLICE));
    return rows;
}

/* products = rows . lines^T over the SLICES of their depth, each summed apart; rows(slice) gives a RowFragment. */
template <typename Number, typename Panel, int SLICES, int COUNT, typename Rows>
__device__ void multiply_lines(const Rows& rows, const half_bits* lines, float (&products)[COUNT][4]) {
    clear(products);
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const RowFragment own = rows(k);
#pragma unroll
        for (int j = 0; j < COUNT; j += 2) {
            uint32_t two[4];
            load_fragments<false>(two, lines + Panel::template place_of_lane<false>(8 * j, k * SLICE));
            const uint32_t left[2] = {two[0], two[1]}, right[2] = {two[2], two[3]};
            add_slice(Number(), products[j], own.at, left);
            add_slice(Number(), products[j + 1], own.at, right);
        }
    }
}

/* Two numbers of 16 bits as a register holds them. */
template <typename Format> __device__ uint32_t pair_of(float low, float high) {
    return Format::narrow(low) | static_cast<uint32_t>(Format::narrow(high)) << 16;
}

/* Weights are float32 by declaration: they go into a product as PARTS numbers of bfloat16, each what those before leave
 * of them, 24 binary digits together.  Parts in float16, which ends at 2^-24, would leave nothing of a small weight:
 * behind a key that outweighs the others and has no value, as an attention sink, small weights are all there is. */
template <typename Format> struct Weights {
    static constexpr int PARTS = 3;
    static_assert(std::is_same_v<Format, Bf16>, "parts of float16 lose small weights");
    RowFragment part[PARTS];

    /* Of slice k: what a product is to the lane that has it is a factor's fragment as it stands. */
    template <int COUNT> __device__ Weights(const float (&weights)[COUNT][4], int k) {
#pragma unroll
        for (int r = 0; r < 4; r++) split(weights[2 * k + r / 2] + r % 2 * 2, r);
    }

    __device__ void split(const float* two, int r) {
        float low = two[0], high = two[1];
#pragma unroll
        for (int i = 0; i < PARTS; i++) {
            const uint32_t pair = pair_of<Format>(low, high);
            part[i].at[r] = pair;
            low -= Format::widen(static_cast<half_bits>(pair));
            high -= Format::widen(static_cast<half_bits>(pair >> 16));
        }
    }
};

/* sums += weights . lines.  SEPARATE: a slice's three products are summed from 0, the smallest first, and added to
 * nearest, as add_slice does: what a key's gradient sums are all queries of its group's heads. */
template <typename Format, typename Panel, bool SEPARATE, int LINES_, int COUNT>
__device__ void add_weighted(const float (&weights)[LINES_][4], const half_bits* lines, float (&sums)[COUNT][4]) {
    using Number = typename Format::Number;
    constexpr int PARTS = Weights<Format>::PARTS;
#pragma unroll
    for (int k = 0; k < LINES_ / 2; k++) {
        const Weights<Format> own(weights, k);
#pragma unroll
        for (int j = 0; j < COUNT; j += 2) {
            uint32_t two[4];
            load_fragments<true>(two, lines + Panel::template place_of_lane<false>(8 * j, k * SLICE));
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const uint32_t columns[2] = {two[2 * half], two[2 * half + 1]};
                float (&to)[4] = sums[j + half];
                if constexpr (SEPARATE) {
                    float slice[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
                    for (int i = PARTS - 1; i >= 0; i--) multiply_fragments(Number(), slice, own.part[i].at, columns);
#pragma unroll
                    for (int n = 0; n < 4; n++) to[n] += slice[n];
                } else {
#pragma unroll
                    for (int i = 0; i < PARTS; i++) multiply_fragments(Number(), to, own.part[i].at, columns);
                }
            }
        }
    }
}

/* A warp's sixteen rows into global memory, by its rows of a panel, from `row` on, which no other warp reads: so a lane
 * stores sixteen bytes.  line(i): where row i of the panel goes, null for none. */
template <typename Format, typename Panel, int COUNT, typename Line>
__device__ void store_rows(const float (&sums)[COUNT][4], half_bits* panel, int row, int64_t head_dim,
                           const Line& line) {
    constexpr int ACROSS = COUNT;
    const int lane = lane_of_thread();
    __syncwarp(); /* all lanes have read what stood in these rows */
#pragma unroll
    for (int j = 0; j < COUNT; j++)
#pragma unroll
        for (int n = 0; n < 4; n += 2)
            *reinterpret_cast<uint32_t*>(panel + Panel::place(row + row_in_fragment(n), j) + lane % 4 * 2) =
                pair_of<Format>(sums[j][n], sums[j][n + 1]);
    __syncwarp();
    for (int at = lane; at < 16 * ACROSS; at += WARP) {
        half_bits* const to = line(row + at / ACROSS);
        const int chunk = at % ACROSS;
        if (!to || chunk * CHUNK >= head_dim) continue;
        store_pack<CHUNK>(to + chunk * CHUNK, load_pack<CHUNK>(panel + Panel::place(row + at / ACROSS, chunk)));
    }
}

#endif
