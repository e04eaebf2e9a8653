/* Cross entropy. */
#include "functions.cuh"
#include "online.cuh"
#include "scratch.cuh"

namespace {

template <typename L, typename T>
__global__ void __launch_bounds__(L::BLOCK) log_softmax_kernel(const T* logits, float* log_probs, int rows, int cols) {
    const int64_t row = L::team();
    if (row >= rows) return;
    const T* const x = logits + row * cols;
    const Parts<L> parts{cols};
    float items[L::ITEMS];
    const Peak peak = row_peak<L>(x, parts, items);
    const float log_sum = logf(peak.sum);
    for (int part = parts.count() - 1; part >= 0; part--) {
        if (part < parts.count() - 1) L::load(x + parts.start(part), parts.left(part), 0.0f, items);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) items[i] = (items[i] - peak.max) - log_sum;
        L::store(log_probs + row * cols + parts.start(part), parts.left(part), items);
    }
}

/* A target's logarithm where every logarithm is kept, and where none but it is. */
struct OfAll {
    const float* log_probs;
    int cols;
    __device__ float operator()(int64_t row, int target) const { return log_probs[row * cols + target]; }
};

struct OfTargets {
    const float* log_probs;
    __device__ float operator()(int64_t row, int) const { return log_probs[row]; }
};

/* The mean of -log_probs[target] over the rows that count: one block, each thread in the order of its rows. */
constexpr int LOSS_THREADS = 1024;

template <typename LogProbs>
__global__ void __launch_bounds__(LOSS_THREADS)
    mean_loss_kernel(const LogProbs log_prob, const int* targets, float* loss, int rows, int cols) {
    float sum = 0.0f;
    int counted = 0;
    for (int64_t row = threadIdx.x; row < rows; row += LOSS_THREADS) {
        const int target = targets[row];
        if (target < 0) continue;
        sum -= target < cols ? log_prob(row, target) : not_a_number();
        counted++;
    }
    sum = team_sum<LOSS_THREADS>(sum);
    counted = team_sum<LOSS_THREADS>(counted);
    if (threadIdx.x == 0) loss[0] = counted ? sum / static_cast<float>(counted) : 0.0f;
}

template <typename LogProbs>
int32_t mean_loss(const LogProbs& log_prob, const int* targets, float* loss, int rows, int cols, void* stream) {
    mean_loss_kernel<<<1, LOSS_THREADS, 0, stream_of(stream)>>>(log_prob, targets, loss, rows, cols);
    return launched();
}

/* The one that stands at the target is subtracted before the scale: near 1 the two differ. */
template <typename L, typename T>
__global__ void __launch_bounds__(L::BLOCK)
    cross_entropy_backward_kernel(const float* log_probs, const int* targets, T* d_logits, int rows, int cols,
                                  float scale) {
    const int64_t row = L::team();
    if (row >= rows) return;
    const int target = targets[row];
    const float factor = target < cols ? scale : not_a_number();
    const Parts<L> parts{cols};
    for (int part = 0; part < parts.count(); part++) {
        const int64_t start = parts.start(part), at = row * cols + start;
        float items[L::ITEMS] = {};
        if (target >= 0) L::load(log_probs + at, parts.left(part), 0.0f, items);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) {
            const float one = start + L::column(i) == target ? 1.0f : 0.0f;
            items[i] = target < 0 ? 0.0f : (expf(items[i]) - one) * factor;
        }
        L::store(d_logits + at, parts.left(part), items);
    }
}

/* A team owns a row, which it reads once where its threads hold it (32,768 columns), and writes once: 8 bytes a logit
 * in float32 and 4 in 16 bits, by which it is bound.  The gradient takes the logits' place when all have met, each
 * number by the thread that read it, and the target's, which the first has read, too. */
template <typename L, typename T>
__global__ void __launch_bounds__(L::BLOCK)
    fused_cross_entropy_kernel(T* logits, const int* targets, float* target_log_probs, float* lse, int rows, int cols,
                               float scale) {
    const int64_t row = L::team();
    if (row >= rows) return;
    T* const x = logits + row * cols;
    const int target = targets[row];
    const float of_target = L::member() == 0 && target >= 0 && target < cols ? widened(x[target]) : 0.0f;
    const Parts<L> parts{cols};
    float items[L::ITEMS];
    const Peak peak = row_peak<L>(x, parts, items);
    const float log_sum = logf(peak.sum), factor = target < cols ? scale : not_a_number();
    if (L::member() == 0) {
        lse[row] = isinf(peak.max) ? not_a_number() : peak.max + log_sum;
        target_log_probs[row] = (of_target - peak.max) - log_sum;
    }
    if constexpr (L::THREADS == WARP) __syncwarp(); /* a block has met in the fold */
    for (int part = parts.count() - 1; part >= 0; part--) {
        const int64_t start = parts.start(part);
        if (part < parts.count() - 1) L::load(x + start, parts.left(part), 0.0f, items);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) {
            const float one = start + L::column(i) == target ? 1.0f : 0.0f;
            items[i] = target < 0 ? 0.0f : (expf((items[i] - peak.max) - log_sum) - one) * factor;
        }
        L::store(x + start, parts.left(part), items);
    }
}

template <typename T>
int32_t cross_entropy_forward(const T* logits, const int* targets, float* loss, float* log_probs, int batch_seq,
                              int vocab_size, void* stream) {
    CHECK_ARRAY(logits, batch_seq, vocab_size);
    CHECK_ARRAY(targets, batch_seq);
    CHECK_ARRAY(loss, 1);
    CHECK_ARRAY(log_probs, batch_seq, vocab_size);
    TRY((with_row_layout<1, T>(vocab_size, rows_of_quads(vocab_size, logits, log_probs), [=](auto layout) {
        using L = decltype(layout);
        log_softmax_kernel<L><<<blocks_for(batch_seq, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(
            logits, log_probs, batch_seq, vocab_size);
        return launched();
    })));
    return mean_loss(OfAll{log_probs, vocab_size}, targets, loss, batch_seq, vocab_size, stream);
}

template <typename T>
int32_t cross_entropy_backward(const float* log_probs, const int* targets, T* d_logits, int batch_seq, int vocab_size,
                               float scale, void* stream) {
    CHECK_ARRAY(log_probs, batch_seq, vocab_size);
    CHECK_ARRAY(targets, batch_seq);
    CHECK_ARRAY(d_logits, batch_seq, vocab_size);
    return with_row_layout<1, T>(vocab_size, rows_of_quads(vocab_size, log_probs, d_logits), [=](auto layout) {
        using L = decltype(layout);
        cross_entropy_backward_kernel<L><<<blocks_for(batch_seq, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(
            log_probs, targets, d_logits, batch_seq, vocab_size, scale);
        return launched();
    });
}

template <typename T>
int32_t fused_cross_entropy(T* logits, const int* targets, float* loss, float* lse, int batch_seq, int vocab_size,
                            float scale, void* stream) {
    CHECK_ARRAY(logits, batch_seq, vocab_size);
    CHECK_ARRAY(targets, batch_seq);
    CHECK_ARRAY(loss, 1);
    CHECK_ARRAY(lse, batch_seq);
    const Scratch scratch(batch_seq * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    float* const log_probs = scratch.as<float>();
    TRY((with_row_layout<1, T>(vocab_size, rows_of_quads(vocab_size, logits), [=](auto layout) {
        using L = decltype(layout);
        fused_cross_entropy_kernel<L><<<blocks_for(batch_seq, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(
            logits, targets, log_probs, lse, batch_seq, vocab_size, scale);
        return launched();
    })));
    return mean_loss(OfTargets{log_probs}, targets, loss, batch_seq, vocab_size, stream);
}

} // namespace

#define CROSS_ENTROPY(Declared, T, suffix)                                                                             \
    int32_t cuda_cross_entropy_forward##suffix(const Declared* logits, const int* targets, float* loss,                \
                                               float* log_probs, int batch_seq, int vocab_size, void* stream) {        \
        return cross_entropy_forward(numbers_of<T>(logits), targets, loss, log_probs, batch_seq, vocab_size, stream);  \
    }                                                                                                                  \
    int32_t cuda_cross_entropy_backward##suffix(const float* log_probs, const int* targets, Declared* d_logits,        \
                                                int batch_seq, int vocab_size, float scale, void* stream) {            \
        return cross_entropy_backward(log_probs, targets, numbers_of<T>(d_logits), batch_seq, vocab_size, scale,       \
                                      stream);                                                                         \
    }                                                                                                                  \
    int32_t cuda_fused_cross_entropy##suffix(Declared* logits, const int* targets, float* loss, float* lse,            \
                                             int batch_seq, int vocab_size, float scale, void* stream) {               \
        return fused_cross_entropy(numbers_of<T>(logits), targets, loss, lse, batch_seq, vocab_size, scale, stream);   \
    }
FOR_EACH_STORAGE(CROSS_ENTROPY)
