/* Attention forward: blocks of queries walk over the keys, which are never multiplied out (Dao et al. 2022, FlashAttention). */
#include "attention.cuh"
#include "online.cuh"

namespace {

struct Forward {
    const float *Q, *K, *V;
    float *output, *lse; /* lse may be null */
    Heads heads;
};

/* The softmax so far of a thread's four rows: the same in the eight lanes that share them. */
template <typename S> struct Running {
    float most[S::HEIGHT], sum[S::HEIGHT];
};

/* Scores become exponentials over the columns a row sees; what was summed before is brought to the new maximum. */
template <typename S>
__device__ void exponentials(const Heads& heads, int64_t first_row, int64_t first_key, Scores<S>& scores, Running<S>& running, Slice<S>& slice) {
#pragma unroll
    for (int i = 0; i < S::HEIGHT; i++) {
        const int64_t seen = heads.seen(first_row + S::row(i));
        float most = running.most[i], sum = 0.0f;
#pragma unroll
        for (int j = 0; j < S::WIDTH; j++) {
            scores[i][j] = first_key + S::column(j) < seen ? scores[i][j] * heads.scale : -INFINITY;
            most = fmaxf(most, scores[i][j]);
        }
        most = warp_fold<8>(most, Max{});
        const float shift = shift_of(most), before = expf(running.most[i] - shift);
#pragma unroll
        for (int j = 0; j < S::WIDTH; j++) {
            scores[i][j] = expf(scores[i][j] - shift);
            sum += scores[i][j];
        }
        running.most[i] = most;
        running.sum[i] = running.sum[i] * before + warp_fold<8>(sum, Sum{});
#pragma unroll
        for (int j = 0; j < S::QUADS; j++)
#pragma unroll
            for (int c = 0; c < 4; c++) slice[i][j].at[c] *= before;
    }
}

/* Shared memory: a slice of the queries, one of the keys or values, the exponentials. */
template <typename S> constexpr int memory() { return (S::ROWS + S::COLUMNS) * S::STRIDE + S::ROWS * S::SCORE_STRIDE; }

template <typename S> __global__ void __launch_bounds__(S::THREADS, 2) forward_kernel(const Forward f) {
    extern __shared__ __align__(16) float pool[];
    float *const queries = pool, *const others = queries + S::ROWS * S::STRIDE, *const weights = others + S::COLUMNS * S::STRIDE;
    const Heads& heads = f.heads;
    const int slices = S::slices(heads.head_dim), own = blockIdx.x % slices * S::SLICE;
    const int64_t pair = blockIdx.x / slices % heads.pairs(), tile = blockIdx.x / slices / heads.pairs();
    const int64_t first_row = (ceil_div(heads.rows(), S::ROWS) - 1 - tile) * S::ROWS; /* the longest first */
    const int64_t rows = min64(S::ROWS, heads.rows() - first_row), keys = heads.seen(first_row + rows - 1);
    const auto query = [&](int row) { return heads.query_at(pair, first_row + row); };

    Running<S> running;
#pragma unroll
    for (int i = 0; i < S::HEIGHT; i++) {
        running.most[i] = -INFINITY;
        running.sum[i] = 0.0f;
    }
    Slice<S> slice;
    clear_slice<S>(slice);
    for (int64_t first_key = 0; first_key < keys; first_key += S::COLUMNS) {
        const auto key = [&](int column) { return heads.key_at(pair, first_key + column); };
        Scores<S> scores;
        clear_scores<S>(scores);
        for (int part = 0; part < slices; part++) {
            __syncthreads(); /* the values of the step before are read */
            if (first_key == 0 || slices > 1)
                bring<S, S::ROWS>(queries, f.Q, rows, part * S::SLICE, heads.head_dim, heads.quads, query);
            bring<S, S::COLUMNS>(others, f.K, keys - first_key, part * S::SLICE, heads.head_dim, heads.quads, key);
            __syncthreads();
            add_scores<S>(queries, others, scores);
        }
        exponentials<S>(heads, first_row, first_key, scores, running, slice);
        keep_scores<S>(weights, scores);
        __syncthreads(); /* the keys are read */
        bring<S, S::COLUMNS>(others, f.V, keys - first_key, own, heads.head_dim, heads.quads, key);
        __syncthreads();
        add_slice<S>(weights, others, slice);
    }
#pragma unroll
    for (int i = 0; i < S::HEIGHT; i++) {
        const int64_t row = first_row + S::row(i);
        if (row >= heads.rows()) continue;
        store_slice_row<S>(f.output + heads.query_at(pair, row), own, heads.head_dim, heads.quads, slice[i], 1.0f / running.sum[i]);
        if (f.lse && own == 0 && lane_of_thread() % 8 == 0) f.lse[heads.lse_at(pair, row)] = running.most[i] + logf(running.sum[i]);
    }
}

template <typename S> int32_t launch(const Forward& f, void* stream) {
    const int64_t blocks = f.heads.pairs() * ceil_div(f.heads.rows(), S::ROWS) * S::slices(f.heads.head_dim);
    return launch_with_memory(forward_kernel<S>, blocks, S::THREADS, memory<S>(), stream, f);
}

int32_t forward(Forward f, void* stream) {
    f.heads.quads = rows_of_quads(f.heads.head_dim, f.Q, f.K, f.V, f.output);
    if (f.heads.head_dim <= 32) return launch<AttentionShape<32, 4, 32>>(f, stream);
    if (f.heads.head_dim <= 64) return launch<AttentionShape<64, 4, 32>>(f, stream);
    return launch<AttentionShape<128, 4, 32>>(f, stream);
}

} // namespace

int32_t cuda_flash_attention(const float* Q, const float* K, const float* V, float* output, int batch, int n_q_heads, int n_kv_heads,
                             int seq_len, int head_dim, float scale, void* stream) {
    CHECK_ARRAY(Q, batch, seq_len, n_q_heads, head_dim);
    CHECK_ARRAY(K, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(V, batch, seq_len, n_kv_heads, head_dim);
    CHECK_ARRAY(output, batch, seq_len, n_q_heads, head_dim);
    CHECK(n_q_heads % n_kv_heads == 0);
    return forward({Q, K, V, output, nullptr, {batch, n_q_heads, n_kv_heads, seq_len, seq_len, seq_len, head_dim, scale, false}}, stream);
}

int32_t cuda_attention_forward(const float* Q, const float* K, const float* V, float* output, float* lse, int batch, int n_q_heads,
                               int n_kv_heads, int q_len, int kv_len, int kv_capacity, int head_dim, float scale, void* stream) {
    CHECK_ARRAY(Q, batch, q_len, n_q_heads, head_dim);
    CHECK_ARRAY(K, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK_ARRAY(V, batch, kv_capacity, n_kv_heads, head_dim);
    CHECK_ARRAY(output, batch, q_len, n_q_heads, head_dim);
    CHECK_ARRAY(lse, batch, n_q_heads, q_len);
    CHECK(n_q_heads % n_kv_heads == 0 && kv_len >= q_len && kv_len <= kv_capacity);
    return forward({Q, K, V, output, lse, {batch, n_q_heads, n_kv_heads, q_len, kv_len, kv_capacity, head_dim, scale, false}}, stream);
}
