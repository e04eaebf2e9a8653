/* Loss and gradient of cross entropy in one call, the gradient in place of the logits.
 *
 * A row is read once: part by part its exponentials are taken under the largest number up to there (Milakov and Gimelshein
 * 2018), and kept until their sum is known; then each part is multiplied by what brings it under the row's largest, over that
 * sum.  So every number is read and written once in its format, and has one exponential taken. */
#include "check.h"
#include "parallel.h"
#include "scratch.h"
#include "simd.h"

#include <math.h>
#include <string.h>

enum { PART = 4096, LINE = 16 }; /* floats: a part stays in a first-level cache */

/* What every row is computed with.  format: null where the logits are float32. */
struct classifier {
    const struct simd* v;
    const struct half* format;
    int64_t cols, parts, bytes; /* bytes: of a logit */
    float scale;
};

/* A thread's own memory: the largest number up to each part, and a 16-bit row's exponentials. */
static int64_t own_floats(const struct classifier* c) {
    return round_up(c->parts, LINE) + (c->format ? round_up(c->cols, LINE) : 0);
}

static float number_of(const struct classifier* c, const void* row, int64_t col) {
    float x;
    if (!c->format) return ((const float*)row)[col];
    c->format->widen(1, (const uint16_t*)row + col, &x);
    return x;
}

/* What is subtracted before exp: where every number so far is -infinity, nothing. */
static float shift_of(float row_max) { return row_max == -INFINITY ? 0.0f : row_max; }

/* A row's exponentials into e, which may be the row itself: each part's under the largest number up to its end, which goes into
 * largest.  Returns their sum under the last of these. */
static double exponentials(const struct classifier* c, const void* row, float* e, float* largest) {
    double sum = 0;
    float max = -INFINITY;
    for (int64_t part = 0; part < c->parts; part++) {
        const int64_t at = part * PART, length = min64(PART, c->cols - at);
        const float* const x = c->format ? e + at : (const float*)row + at;
        if (c->format) c->format->widen(length, (const uint16_t*)row + at, e + at);
        const float of_part = c->v->maximum(length, x);
        if (of_part > max) {
            if (sum != 0) sum *= exp((double)max - of_part);
            max = of_part;
        }
        largest[part] = max;
        sum += c->v->exp_shifted(length, x, shift_of(max), e + at);
    }
    return sum;
}

/* One row: its log-sum-exp, and the gradient in its place.  Returns -log of the target's probability. */
static double classify_row(const struct classifier* c, void* row, int target, float* memory, float* lse_out) {
    float *const largest = memory, *const e = c->format ? memory + round_up(c->parts, LINE) : row;
    const float of_target = target < 0 ? 0.0f : number_of(c, row, target);
    const double sum = exponentials(c, row, e, largest);
    const float row_max = largest[c->parts - 1];
    const double lse = isinf(row_max) ? NAN : row_max + log(sum);
    lse_out[0] = (float)lse;
    if (target < 0) {
        memset(row, 0, (size_t)(c->cols * c->bytes));
        return 0;
    }
    for (int64_t part = 0; part < c->parts; part++) {
        const int64_t at = part * PART, length = min64(PART, c->cols - at);
        c->v->scale(length, e + at, (float)(exp(largest[part] - lse) * c->scale), e + at);
        /* Subtracted before the scale: near 1 the two differ. */
        if (target >= at && target < at + length) e[target] = (float)(expm1(of_target - lse) * c->scale);
        if (c->format) c->format->narrow(length, e + at, (uint16_t*)row + at);
    }
    return lse - of_target;
}

static int32_t fused_cross_entropy(const struct half* format, void* logits, const int* targets, float* loss, float* lse,
                                   int batch_seq, int vocab_size, float scale) {
    CHECK(all_within(targets, batch_seq, INT32_MIN, vocab_size));
    const struct classifier c = {simd(), format, vocab_size, ceil_div(vocab_size, PART), format ? sizeof(uint16_t) : sizeof(float), scale};
    const int64_t own = own_floats(&c);
    const struct scratch losses = scratch_take(batch_seq, sizeof(double)), memory = scratch_take(own * thread_count(), sizeof(float));
    const bool found = losses.memory && memory.memory;
    if (found) {
        double* const of_row = losses.memory;
        PARALLEL_FOR(batch_seq * c.cols >= SERIAL_BELOW)
        for (int64_t row = 0; row < batch_seq; row++)
            of_row[row] = classify_row(&c, (char*)logits + row * c.cols * c.bytes, targets[row],
                                       (float*)memory.memory + own * thread_index(), lse + row);
        double total = 0;
        int64_t counted = 0;
        for (int64_t row = 0; row < batch_seq; row++) {
            if (targets[row] < 0) continue;
            total += of_row[row];
            counted++;
        }
        loss[0] = counted ? (float)(total / (double)counted) : 0.0f;
    }
    scratch_give(memory);
    scratch_give(losses);
    return found ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

#define FUSED_CROSS_ENTROPY(type, suffix, format)                                                                          \
    int32_t cuda_fused_cross_entropy##suffix(type* logits, const int* targets, float* loss, float* lse, int batch_seq,     \
                                             int vocab_size, float scale, void* stream) {                                  \
        (void)stream;                                                                                                      \
        CHECK_ARRAY(logits, batch_seq, vocab_size);                                                                        \
        CHECK_ARRAY(targets, batch_seq);                                                                                   \
        CHECK_ARRAY(loss, 1);                                                                                              \
        CHECK_ARRAY(lse, batch_seq);                                                                                       \
        return fused_cross_entropy(format, logits, targets, loss, lse, batch_seq, vocab_size, scale);                      \
    }
FUSED_CROSS_ENTROPY(float, , NULL)
FUSED_CROSS_ENTROPY(assayer_bf16, _bf16, &simd()->bf16)
FUSED_CROSS_ENTROPY(assayer_fp16, _fp16, &simd()->fp16)
