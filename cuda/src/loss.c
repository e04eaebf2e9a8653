/* Cross entropy. */
#include "loss.h"
#include "check.h"
#include "simd.h"
#include "parallel.h"

#include <math.h>
#include <string.h>

float mean_loss(const float* log_probs, const int* targets, int64_t batch_seq, int64_t cols) {
    double total = 0;
    int64_t counted = 0;
    for (int64_t row = 0; row < batch_seq; row++) {
        if (targets[row] < 0) continue;
        total -= log_probs[row * cols + targets[row]];
        counted++;
    }
    return counted ? (float)(total / (double)counted) : 0.0f;
}

int32_t cuda_cross_entropy_forward(const float* logits, const int* targets, float* loss, float* log_probs, int batch_seq,
                                   int vocab_size, void* stream) {
    (void)stream;
    CHECK_ARRAY(logits, batch_seq, vocab_size);
    CHECK_ARRAY(targets, batch_seq);
    CHECK_ARRAY(loss, 1);
    CHECK_ARRAY(log_probs, batch_seq, vocab_size);
    CHECK(all_within(targets, batch_seq, INT32_MIN, vocab_size));
    const struct simd* const v = simd();
    const int64_t cols = vocab_size;
    PARALLEL_FOR(batch_seq * cols >= SERIAL_BELOW)
    for (int64_t row = 0; row < batch_seq; row++) {
        const float* const x = logits + row * cols;
        const float row_max = v->maximum(cols, x);
        v->shift(cols, x, row_max, (float)log(v->exp_sum(cols, x, row_max)), log_probs + row * cols);
    }
    loss[0] = mean_loss(log_probs, targets, batch_seq, cols);
    return ASSAYER_OK;
}

int32_t cuda_cross_entropy_backward(const float* log_probs, const int* targets, float* d_logits, int batch_seq, int vocab_size,
                                    float scale, void* stream) {
    (void)stream;
    CHECK_ARRAY(log_probs, batch_seq, vocab_size);
    CHECK_ARRAY(targets, batch_seq);
    CHECK_ARRAY(d_logits, batch_seq, vocab_size);
    CHECK(all_within(targets, batch_seq, INT32_MIN, vocab_size));
    const struct simd* const v = simd();
    const int64_t cols = vocab_size;
    PARALLEL_FOR(batch_seq * cols >= SERIAL_BELOW)
    for (int64_t row = 0; row < batch_seq; row++) {
        float* const dx = d_logits + row * cols;
        if (targets[row] < 0) {
            memset(dx, 0, (size_t)cols * sizeof(float));
            continue;
        }
        v->scaled_exp(cols, log_probs + row * cols, scale, dx);
        /* Subtracted before the scale: near 1 the two differ. */
        float probability;
        v->scaled_exp(1, log_probs + row * cols + targets[row], 1.0f, &probability);
        dx[targets[row]] = (probability - 1.0f) * scale;
    }
    return ASSAYER_OK;
}
