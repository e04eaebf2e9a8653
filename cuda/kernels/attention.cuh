/* What attention forward and backward share: which lines a block works on. */
#ifndef ASSAYER_ATTENTION_CUH
#define ASSAYER_ATTENTION_CUH

#include "attention_products.cuh"
#include "launch.cuh"

template <typename T> struct AttentionOf {
    const T *Q, *K, *V;
    int64_t batch, n_q_heads, n_kv_heads, q_len, kv_len, kv_capacity, head_dim;
    float scale;

    /* The queries of a (batch, KV head) are one matrix: the heads of its group side by side, position by position. */
    __host__ __device__ int64_t group() const { return n_q_heads / n_kv_heads; }
    __host__ __device__ int64_t queries() const { return q_len * group(); }
    __host__ __device__ int64_t query_tiles() const { return ceil_div(queries(), LINES); }
    __host__ __device__ int64_t pairs() const { return batch * n_kv_heads; }
    __host__ __device__ int64_t key_tiles() const { return ceil_div(kv_len, LINES); }
    /* The last key that a query sees. */
    __host__ __device__ int64_t last_key(int64_t query) const { return kv_len - q_len + query / group(); }
};
using Attention = AttentionOf<float>;

/* The queries of a tile.  Between fill() and use stands a barrier. */
struct QueryTile {
    int64_t offset[LINES]; /* where a line begins in Q and in what has its shape; -1 where there is none */
    int64_t row[LINES];    /* its index in lse */
    int last_key[LINES];   /* that it sees */

    __device__ void fill(const Attention& s, int64_t pair, int64_t first) {
        if (threadIdx.x >= LINES) return;
        const int64_t query = first + threadIdx.x, group = s.group(), position = query / group;
        const int64_t b = pair / s.n_kv_heads, head = pair % s.n_kv_heads * group + query % group;
        const bool there = query < s.queries();
        offset[threadIdx.x] = there ? ((b * s.q_len + position) * s.n_q_heads + head) * s.head_dim : -1;
        row[threadIdx.x] = (b * s.n_q_heads + head) * s.q_len + position;
        last_key[threadIdx.x] = there ? static_cast<int>(s.last_key(query)) : -1;
    }
};

/* Lines of a tile, as Products takes them: a pointer, null where there is no line.  T: float or const float. */
template <typename T> struct QueryLines {
    T* data;
    const QueryTile& tile;
    __device__ bool has(int line) const { return tile.offset[line] >= 0; }
    __device__ T* at(int line) const { return data + tile.offset[line]; }
    __device__ T* operator()(int line) const { return has(line) ? at(line) : nullptr; }
};

template <typename T> struct KeyLines {
    T* first;
    int64_t stride, count;
    __device__ bool has(int line) const { return line < count; }
    __device__ T* at(int line) const { return first + line * stride; }
    __device__ T* operator()(int line) const { return has(line) ? at(line) : nullptr; }
};

/* Keys or values [from, from + LINES) of a (batch, KV head), up to `end`. */
template <typename T>
__device__ KeyLines<T> key_lines(const Attention& s, T* data, int64_t pair, int64_t from, int64_t end) {
    const int64_t b = pair / s.n_kv_heads, head = pair % s.n_kv_heads, width = s.n_kv_heads * s.head_dim;
    return {data + (b * s.kv_capacity + from) * width + head * s.head_dim, width, min64(LINES, end - from)};
}

/* Four columns of a line, as far as it reaches. */
template <typename L> __device__ void store_four(float* line, int64_t column, int64_t end, const float* values) {
    if constexpr (L::QUADS) {
        if (column < end) store_quad(line + column, {{values[0], values[1], values[2], values[3]}});
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (column + i < end) line[column + i] = values[i];
    }
}

/* A thread's share, which begins at `column` of the lines.  A line is asked for, and no pointer compared with null: of
 * a kernel's parameter that it compares nvcc 13.0 for sm_100 and later forgets that it is one of global memory. */
template <typename L, typename Lines>
__device__ void store_lines(const Lines& lines, int64_t column, int64_t end, const Fragment<L, L::WIDTH>& tile) {
#pragma unroll
    for (int r = 0; r < 4; r++) {
        if (!lines.has(L::line(r))) continue;
        float* const line = lines.at(L::line(r));
#pragma unroll
        for (int c = 0; c < tile.COUNT; c += 4) store_four<L>(line, column + L::column(c), end, &tile.at[r][c]);
    }
}

/* Blocks for heads of head_dim take so many slices of their columns; each computes the scores anew. */
template <typename L> __host__ __device__ int64_t slices_of(const Attention& s) {
    return ceil_div(s.head_dim, L::WIDTH);
}

/* How many parts to cut the work of each of so many blocks in, `limit` at most, that no multiprocessor goes without. */
inline int64_t parts_for(int64_t blocks, int64_t limit) {
    constexpr int64_t BLOCKS_EACH = 4, LANES = WARP; /* a lane adds up a part: combine_kernel */
    const int64_t wanted = ceil_div(BLOCKS_EACH * device_attribute(cudaDevAttrMultiProcessorCount), blocks);
    return wanted < 1 ? 1 : min64(wanted, min64(limit, LANES));
}

/* Calls launch(layout) with the layout for heads of this size. */
template <int WIDEST_THREADS, bool QUADS, typename Launch>
int32_t with_attention_layout_of(int64_t head_dim, const Launch& launch) {
    if (head_dim <= 32) return launch(AttentionLayout<32, 128, QUADS>{});
    if (head_dim <= 64) return launch(AttentionLayout<64, 128, QUADS>{});
    return launch(AttentionLayout<128, WIDEST_THREADS, QUADS>{});
}

template <int WIDEST_THREADS, typename Launch>
int32_t with_attention_layout(int64_t head_dim, bool quads, const Launch& launch) {
    return quads ? with_attention_layout_of<WIDEST_THREADS, true>(head_dim, launch)
                 : with_attention_layout_of<WIDEST_THREADS, false>(head_dim, launch);
}

#endif
