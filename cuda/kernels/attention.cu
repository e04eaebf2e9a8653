/* Attention forward: where there are few tiles of queries, the keys of each are walked in parts. */
#include "attention_forward.cuh"
#include "scratch.cuh"

namespace {

constexpr int COMBINE_THREADS = 128;

/* A warp to a row, a lane to a part. */
__global__ void __launch_bounds__(COMBINE_THREADS) combine_kernel(const Forward f) {
    const Attention& s = f.s;
    const int64_t row = blockIdx.x * int64_t{COMBINE_THREADS / WARP} + threadIdx.x / WARP, rows = f.rows();
    if (row >= rows) return;
    const int lane = lane_of_thread();
    const Peak own = lane < f.parts ? f.part_peaks[lane * rows + row] : Peak{-INFINITY, 0.0f};
    const Peak all = warp_fold(own, Merge{});
    const float factor = expf(own.max - shift_of(all.max)) / all.sum;
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
    if (f.lse && lane == 0) f.lse[row] = all.max + logf(all.sum);
}

template <typename L> int32_t launch(Forward f, cudaStream_t stream) {
    const int64_t blocks = f.s.query_tiles() * f.s.pairs() * slices_of<L>(f.s);
    f.parts = parts_for(blocks, f.s.key_tiles());
    if (blocks * f.parts > INT32_MAX) return ASSAYER_UNSUPPORTED; /* past a grid's first axis */
    if (f.parts == 1) {
        forward_kernel<L><<<blocks_for(blocks, 1), L::THREADS, 0, stream>>>(f);
        return launched();
    }
    const Scratch scratch(f.parts * f.rows() * static_cast<int64_t>(sizeof(Peak) + f.s.head_dim * sizeof(float)),
                          stream);
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

int32_t cuda_flash_attention(const float* Q, const float* K, const float* V, float* output, int batch, int n_q_heads,
                             int n_kv_heads, int seq_len, int head_dim, float scale, void* stream) {
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

int32_t cuda_attention_forward(const float* Q, const float* K, const float* V, float* output, float* lse, int batch,
                               int n_q_heads, int n_kv_heads, int q_len, int kv_len, int kv_capacity, int head_dim,
                               float scale, void* stream) {
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
