/* Softmax of attention's scores in place, under a mask of keys and of the future, and its gradient. */
#include "online.cuh"
#include "softmax_gradient.cuh"

namespace {

/* A row for each query of each head of each sequence. */
struct AttentionRows {
    float* scores;
    const float* mask; /* null for none */
    int64_t rows, of_sequence;
    int queries, keys;
    float scale;
    bool causal;
    int offset;

    /* How many keys a query sees. */
    __device__ int seen(int64_t row) const {
        const int64_t position = row % queries + offset;
        return causal ? static_cast<int>(position < 0 ? 0 : min64(position + 1, keys)) : keys;
    }
};

/* A part of what a query sees of its row, scaled and masked; -infinity past it. */
template <typename L>
__device__ void load_seen(const AttentionRows& a, int64_t row, const Parts<L>& seen, int part,
                          float (&items)[L::ITEMS]) {
    const int64_t start = seen.start(part);
    const int left = seen.left(part);
    L::load(a.scores + row * a.keys + start, left, 0.0f, items);
    if (a.mask) {
        float added[L::ITEMS];
        L::load(a.mask + row / a.of_sequence * a.keys + start, left, 0.0f, added);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] = a.scale * items[i] + added[i];
    } else {
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] *= a.scale;
    }
#pragma unroll
    for (int i = 0; i < L::ITEMS; i++)
        if (L::column(i) >= left) items[i] = -INFINITY;
}

/* Parts that a query sees nothing of are not read.  A sum of 0 is that of a query that sees nothing at all. */
template <typename L> __global__ void __launch_bounds__(L::BLOCK) attention_softmax_kernel(const AttentionRows a) {
    const Parts<L> parts{a.keys};
    for (int64_t row = L::team(); row < a.rows; row += L::teams()) {
        float* const y = a.scores + row * a.keys;
        const Parts<L> seen{a.seen(row)};
        const int read = seen.count();
        float items[L::ITEMS];
        const auto load = [&](int part) { load_seen<L>(a, row, seen, part, items); };
        const Peak peak = row_peak_of(seen, items, load);
        const float shift = shift_of(peak.max), factor = peak.sum == 0.0f ? 0.0f : 1.0f / peak.sum;
        for (int part = read - 1; part >= 0; part--) {
            if (part < read - 1) load(part);
#pragma unroll
            for (int i = 0; i < L::ITEMS; i++) items[i] = expf(items[i] - shift) * factor;
            L::store(y + parts.start(part), parts.left(part), items);
        }
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] = 0.0f * factor; /* NaN where the row is */
        for (int part = read; part < parts.count(); part++) L::store(y + parts.start(part), parts.left(part), items);
    }
}

template <typename L>
__global__ void __launch_bounds__(L::BLOCK)
    attention_softmax_backward_kernel(const float* weights, float* d_scores, int64_t rows, int keys, float scale) {
    for (int64_t row = L::team(); row < rows; row += L::teams()) {
        float* const d = d_scores + row * keys;
        softmax_row_backward<L>(weights + row * keys, d, d, keys, [=](float slope) { return scale * slope; });
    }
}

} // namespace

int32_t cuda_attention_softmax(float* scores, const float* mask, int batch, int n_heads, int q_len, int kv_len,
                               float scale, int has_mask, int causal, int offset, void* stream) {
    CHECK_ARRAY(scores, batch, n_heads, q_len, kv_len);
    CHECK_ARRAY_IF(has_mask, mask, batch, kv_len);
    const int64_t of_sequence = int64_t{n_heads} * q_len;
    const float* const added = has_mask ? mask : nullptr;
    const AttentionRows a = {scores, added, batch * of_sequence, of_sequence, q_len,
                             kv_len, scale, causal != 0,         offset};
    return with_row_layout<2>(kv_len, rows_of_quads(kv_len, scores, added), [=](auto layout) {
        using L = decltype(layout);
        attention_softmax_kernel<L><<<blocks_for(a.rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(a);
        return launched();
    });
}

int32_t cuda_attention_softmax_backward(const float* weights, float* d_scores, int batch, int n_heads, int q_len,
                                        int kv_len, float scale, void* stream) {
    CHECK_ARRAY(weights, batch, n_heads, q_len, kv_len);
    CHECK_ARRAY(d_scores, batch, n_heads, q_len, kv_len);
    const int64_t rows = int64_t{batch} * n_heads * q_len;
    return with_row_layout<2>(kv_len, rows_of_quads(kv_len, weights, d_scores), [=](auto layout) {
        using L = decltype(layout);
        attention_softmax_backward_kernel<L>
            <<<blocks_for(rows, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(weights, d_scores, rows, kv_len, scale);
        return launched();
    });
}
