/* Attention backward: scores are computed again (Dao et al. 2022, FlashAttention, algorithm 4), once by blocks of queries
 * for d_Q and once by blocks of keys for d_K and d_V, so that every sum has one owner and an order. */
#include "attention.cuh"

namespace {

struct Backward {
    const float *Q, *K, *V, *output, *lse, *d_output;
    float *d_Q, *d_K, *d_V, *inner; /* inner: the D of each query, laid out as lse */
    Heads heads;
};

/* D = d_output . output, a row to a warp. */
constexpr int INNER_THREADS = 256;

__global__ void __launch_bounds__(INNER_THREADS) inner_kernel(const Backward b) {
    const Heads& heads = b.heads;
    const int64_t i = blockIdx.x * int64_t{INNER_THREADS / WARP} + threadIdx.x / WARP, row = i % heads.rows(), pair = i / heads.rows();
    if (pair >= heads.pairs()) return;
    const int64_t at = heads.query_at(pair, row);
    float sum = 0.0f;
    for (int d = lane_of_thread(); d < heads.head_dim; d += WARP) sum += b.d_output[at + d] * b.output[at + d];
    sum = warp_fold(sum, Sum{});
    if (lane_of_thread() == 0) b.inner[heads.lse_at(pair, row)] = sum;
}

/* P from a score, and dS from d_output . V^T; 0 where the query does not see the key. */
__device__ float probability(const Heads& heads, float score, float lse, bool seen) {
    return seen ? expf(score * heads.scale - lse) : 0.0f;
}

__device__ float score_gradient(const Heads& heads, float p, float d_p, float inner, bool seen) {
    return seen ? heads.scale * (p * (d_p - inner)) : 0.0f;
}

/* Rows and columns of scores or of their gradients over the whole head dimension: by slices, brought where they change. */
template <typename S, typename RowAt, typename ColumnAt>
__device__ void multiply_slices(const Heads& heads, float* rows, const float* row_data, int64_t row_count, const RowAt& row_at,
                                bool rows_there, float* columns, const float* column_data, int64_t column_count,
                                const ColumnAt& column_at, Scores<S>& scores) {
    clear_scores<S>(scores);
    const int slices = S::slices(heads.head_dim);
    for (int part = 0; part < slices; part++) {
        __syncthreads(); /* what is overwritten has been read */
        if (!rows_there || slices > 1)
            bring<S, S::ROWS>(rows, row_data, row_count, part * S::SLICE, heads.head_dim, heads.quads, row_at);
        bring<S, S::COLUMNS>(columns, column_data, column_count, part * S::SLICE, heads.head_dim, heads.quads, column_at);
        __syncthreads();
        add_scores<S>(rows, columns, scores);
    }
}

/* Brings a block's own slice of columns where it is not the one that stands there. */
template <typename S, typename At>
__device__ void bring_own(const Heads& heads, float* columns, const float* data, int64_t count, int own, const At& at) {
    if (S::slices(heads.head_dim) == 1) return;
    __syncthreads();
    bring<S, S::COLUMNS>(columns, data, count, own, heads.head_dim, heads.quads, at);
    __syncthreads();
}

/* Shared memory of d_Q: slices of Q and d_output, one of V and then K, and the gradients of the scores. */
template <typename S> constexpr int query_memory() { return (2 * S::ROWS + S::COLUMNS) * S::STRIDE + S::ROWS * S::SCORE_STRIDE; }

template <typename S> __global__ void __launch_bounds__(S::THREADS, 2) query_kernel(const Backward b) {
    extern __shared__ __align__(16) float pool[];
    float *const queries = pool, *const gradients = queries + S::ROWS * S::STRIDE, *const others = gradients + S::ROWS * S::STRIDE;
    float* const kept = others + S::COLUMNS * S::STRIDE;
    const Heads& heads = b.heads;
    const int slices = S::slices(heads.head_dim), own = blockIdx.x % slices * S::SLICE;
    const int64_t pair = blockIdx.x / slices % heads.pairs(), tile = blockIdx.x / slices / heads.pairs();
    const int64_t first_row = (ceil_div(heads.rows(), S::ROWS) - 1 - tile) * S::ROWS; /* the longest first */
    const int64_t rows = min64(S::ROWS, heads.rows() - first_row), keys = heads.seen(first_row + rows - 1);
    const auto query = [&](int row) { return heads.query_at(pair, first_row + row); };
    float lse[S::HEIGHT], inner[S::HEIGHT];
#pragma unroll
    for (int i = 0; i < S::HEIGHT; i++) {
        const bool there = S::row(i) < rows;
        lse[i] = there ? b.lse[heads.lse_at(pair, first_row + S::row(i))] : 0.0f;
        inner[i] = there ? b.inner[heads.lse_at(pair, first_row + S::row(i))] : 0.0f;
    }
    Slice<S> d_q;
    clear_slice<S>(d_q);
    for (int64_t first_key = 0; first_key < keys; first_key += S::COLUMNS) {
        const auto key = [&](int column) { return heads.key_at(pair, first_key + column); };
        const int64_t left = keys - first_key;
        Scores<S> d_p, scores;
        multiply_slices<S>(heads, gradients, b.d_output, rows, query, first_key > 0, others, b.V, left, key, d_p);
        multiply_slices<S>(heads, queries, b.Q, rows, query, first_key > 0, others, b.K, left, key, scores);
#pragma unroll
        for (int i = 0; i < S::HEIGHT; i++) {
            const int64_t seen = heads.seen(first_row + S::row(i));
#pragma unroll
            for (int j = 0; j < S::WIDTH; j++) {
                const bool sees = first_key + S::column(j) < seen;
                scores[i][j] = score_gradient(heads, probability(heads, scores[i][j], lse[i], sees), d_p[i][j], inner[i], sees);
            }
        }
        keep_scores<S>(kept, scores);
        bring_own<S>(heads, others, b.K, left, own, key);
        add_slice<S>(kept, others, d_q);
    }
#pragma unroll
    for (int i = 0; i < S::HEIGHT; i++)
        if (S::row(i) < rows)
            store_slice_row<S>(b.d_Q + query(S::row(i)), own, heads.head_dim, heads.quads, d_q[i], 1.0f);
}

/* Shared memory of d_K and d_V: slices of K, V, Q and d_output, and probabilities or gradients of scores, keys by queries. */
template <typename S> constexpr int key_memory() { return 2 * (S::ROWS + S::COLUMNS) * S::STRIDE + S::ROWS * S::SCORE_STRIDE; }

template <typename S> __global__ void __launch_bounds__(S::THREADS, 2) key_kernel(const Backward b) {
    extern __shared__ __align__(16) float pool[];
    float *const keys = pool, *const values = keys + S::ROWS * S::STRIDE, *const queries = values + S::ROWS * S::STRIDE;
    float *const gradients = queries + S::COLUMNS * S::STRIDE, *const kept = gradients + S::COLUMNS * S::STRIDE;
    const Heads& heads = b.heads;
    const int slices = S::slices(heads.head_dim), own = blockIdx.x % slices * S::SLICE;
    const int64_t pair = blockIdx.x / slices % heads.pairs(), first_key = blockIdx.x / slices / heads.pairs() * S::ROWS;
    const int64_t count = min64(S::ROWS, heads.kv_len - first_key);
    const auto key = [&](int row) { return heads.key_at(pair, first_key + row); };
    Slice<S> d_k, d_v;
    clear_slice<S>(d_k);
    clear_slice<S>(d_v);
    bool first = true; /* queries are as many as keys: the first that sees a key of this block stands at its first */
    for (int64_t first_row = first_key * heads.group(); first_row < heads.rows(); first_row += S::COLUMNS, first = false) {
        const auto query = [&](int column) { return heads.query_at(pair, first_row + column); };
        const int64_t left = heads.rows() - first_row;
        float lse[S::WIDTH], inner[S::WIDTH];
        int64_t seen[S::WIDTH];
#pragma unroll
        for (int j = 0; j < S::WIDTH; j++) {
            const bool there = S::column(j) < left;
            const int64_t at = there ? heads.lse_at(pair, first_row + S::column(j)) : 0;
            lse[j] = b.lse[at];
            inner[j] = b.inner[at];
            seen[j] = there ? heads.seen(first_row + S::column(j)) - first_key : 0;
        }
        Scores<S> p, d_s;
        multiply_slices<S>(heads, keys, b.K, count, key, !first, queries, b.Q, left, query, p);
        multiply_slices<S>(heads, values, b.V, count, key, !first, gradients, b.d_output, left, query, d_s);
#pragma unroll
        for (int i = 0; i < S::HEIGHT; i++)
#pragma unroll
            for (int j = 0; j < S::WIDTH; j++) {
                const bool sees = S::row(i) < seen[j];
                p[i][j] = probability(heads, p[i][j], lse[j], sees);
                d_s[i][j] = score_gradient(heads, p[i][j], d_s[i][j], inner[j], sees);
            }
        keep_scores<S>(kept, p);
        bring_own<S>(heads, gradients, b.d_output, left, own, query);
        add_slice<S>(kept, gradients, d_v);
        keep_scores<S>(kept, d_s);
        bring_own<S>(heads, queries, b.Q, left, own, query);
        add_slice<S>(kept, queries, d_k);
    }
#pragma unroll
    for (int i = 0; i < S::HEIGHT; i++) {
        if (S::row(i) >= count) continue;
        store_slice_row<S>(b.d_K + key(S::row(i)), own, heads.head_dim, heads.quads, d_k[i], 1.0f);
        store_slice_row<S>(b.d_V + key(S::row(i)), own, heads.head_dim, heads.quads, d_v[i], 1.0f);
    }
}

template <typename ForQueries, typename ForKeys> int32_t launch(const Backward& b, void* stream) {
    const Heads& heads = b.heads;
    const int64_t tiles = ceil_div(heads.rows(), ForQueries::ROWS) * ForQueries::slices(heads.head_dim);
    const int64_t key_tiles = ceil_div(heads.kv_len, ForKeys::ROWS) * ForKeys::slices(heads.head_dim);
    TRY(launch_with_memory(query_kernel<ForQueries>, heads.pairs() * tiles, ForQueries::THREADS, query_memory<ForQueries>(), stream, b));
    return launch_with_memory(key_kernel<ForKeys>, heads.pairs() * key_tiles, ForKeys::THREADS, key_memory<ForKeys>(), stream, b);
}

int32_t backward(Backward b, void* stream) {
    const int64_t rows = b.heads.pairs() * b.heads.rows();
    const Scratch scratch(rows * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    b.inner = scratch.as<float>();
    b.heads.quads = rows_of_quads(b.heads.head_dim, b.Q, b.K, b.V, b.d_output, b.d_Q, b.d_K, b.d_V);
    if (ceil_div(rows, INNER_THREADS / WARP) > INT32_MAX) return ASSAYER_UNSUPPORTED; /* past a grid's first axis */
    inner_kernel<<<blocks_for(rows, INNER_THREADS / WARP), INNER_THREADS, 0, stream_of(stream)>>>(b);
    TRY(launched());
    if (b.heads.head_dim <= 32) return launch<AttentionShape<32, 4, 32>, AttentionShape<32, 4, 32>>(b, stream);
    if (b.heads.head_dim <= 64) return launch<AttentionShape<64, 4, 32>, AttentionShape<64, 4, 32>>(b, stream);
    return launch<AttentionShape<128, 2, 32>, AttentionShape<128, 2, 16>>(b, stream);
}

} // namespace

int32_t cuda_attention_backward(const float* Q, const float* K, const float* V, const float* output, const float* lse,
                                const float* d_output, float* d_Q, float* d_K, float* d_V, int batch, int n_q_heads, int n_kv_heads,
                                int seq_len, int head_dim, float scale, void* stream) {
    CHECK_ARRAY(Q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(K, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(V, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(output, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(lse, batch, n_q_heads, seq_len);
    CHECK_ARRAY(d_output, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(d_Q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(d_K, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(d_V, batch, seq_len, n_kv_heads, head_dim);
    CHECK(n_q_heads % n_kv_heads == 0);
    const Heads heads = {batch, n_q_heads, n_kv_heads, seq_len, seq_len, seq_len, head_dim, scale, false};
    return backward({Q, K, V, output, lse, d_output, d_Q, d_K, d_V, nullptr, heads}, stream);
}
