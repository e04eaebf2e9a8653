/* Where the queries and keys of a (batch, KV head) lie, in 16 bits, and copies of them into shared memory. */
#ifndef ASSAYER_ATTENTION_LINES_CUH
#define ASSAYER_ATTENTION_LINES_CUH

#include "attention.cuh"
#include "matrix_tile.cuh"

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

/* The same lines of two arrays, the panel of the second behind that of the first. */
template <typename Panel, int COUNT, int THREADS, typename All>
__device__ void bring_both(half_bits* panels, const All& all, const half_bits* first_of, const half_bits* second_of,
                           int first, int64_t head_dim) {
    bring_lines<Panel, COUNT, THREADS>(panels, all, first_of, first, head_dim);
    bring_lines<Panel, COUNT, THREADS>(panels + COUNT * Panel::ACROSS * CHUNK, all, second_of, first, head_dim);
}

#endif
