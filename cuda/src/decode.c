/* Choosing the next token. */
#include "check.h"
#include "simd.h"
#include "order.h"
#include "parallel.h"
#include "scratch.h"

int32_t cuda_argmax(const float* logits, int32_t* output, int batch, int vocab_size, void* stream) {
    (void)stream;
    CHECK_ARRAY(logits, batch, vocab_size);
    CHECK_ARRAY(output, batch);
    PARALLEL_FOR((int64_t)batch * vocab_size >= SERIAL_BELOW)
    for (int64_t row = 0; row < batch; row++) output[row] = first_largest(logits + row * vocab_size, vocab_size);
    return ASSAYER_OK;
}

/* One draw, in [0, 1): the generator of assayer.h. */
static double uniform(uint64_t seed, int64_t row) {
    uint32_t state = (uint32_t)(seed ^ ((uint64_t)row * 12345u));
    state = state * 1664525u + 1013904223u;
    return (state >> 8) * 0x1p-24;
}

struct sampler {
    const float* logits;
    const uint64_t* seeds;
    int32_t* output;
    int64_t batch, vocab_size;
    int64_t k;           /* columns in the walk, the largest first; 0: all, in column order */
    bool by_probability; /* the largest probabilities: at an infinite temperature all are equal; else the largest logits */
    float top_p, temperature;
};

/* to[j] = (logit - largest) / temperature, the argument of the softmax.  The quotient is taken in double, where a small
 * temperature does not make it infinite. */
static void temper(const struct simd* v, const float* logits, int64_t n, float temperature, float* to) {
    const float row_max = v->maximum(n, logits);
    for (int64_t j = 0; j < n; j++) to[j] = (float)(((double)logits[j] - row_max) / temperature);
}

/* The place in the walk of the first entry with u < cumulative probability; the first of all where a probability is NaN.
 * Weights are probabilities up to their sum over the n entries; only those that reach top_p take part. */
static int64_t take(const float* weights, int64_t n, float top_p, double u) {
    double total = 0, cumulative = weights[0];
    for (int64_t j = 0; j < n; j++) total += weights[j];
    if (top_p < 1) {
        const double enough = top_p * total;
        total = weights[0];
        for (int64_t j = 1; total < enough; j++) total += weights[j];
    }
    /* The last entry that takes part ends the walk: the total is summed in its order, and u is below 1. */
    int64_t place = 0;
    while (u * total >= cumulative) cumulative += weights[++place];
    return place;
}

/* memory: tempered logits, then weights in the order of the walk, then that order, then what sorting needs. */
static int32_t sample_row(const struct simd* v, const struct sampler* s, int64_t row, uint32_t* memory) {
    const float* const logits = s->logits + row * s->vocab_size;
    const int64_t n = s->vocab_size, count = s->k ? s->k : n;
    if (s->temperature == 0) return first_largest(logits, (int)n);
    float *tempered = (float*)memory, *weights = tempered + n;
    int32_t* const order = (int32_t*)(memory + 2 * n);
    temper(v, logits, n, s->temperature, tempered);
    if (s->k) {
        largest(s->by_probability ? tempered : logits, (int)n, (int)s->k, order, memory + 3 * n);
        for (int64_t j = 0; j < count; j++) weights[j] = tempered[order[j]];
    }
    v->exp_shifted(count, s->k ? weights : tempered, 0.0f, weights);
    const int64_t place = take(weights, count, s->top_p, uniform(s->seeds[row], row));
    return s->k ? order[place] : (int32_t)place;
}

static int32_t sample(const struct sampler* s) {
    const int64_t each = 3 * s->vocab_size + order_memory((int)s->vocab_size, (int)s->k);
    const struct scratch scratch = scratch_take(each * thread_count(), sizeof(uint32_t));
    if (scratch.memory) {
        const struct simd* const v = simd();
        PARALLEL_FOR(s->batch * s->vocab_size >= SERIAL_BELOW)
        for (int64_t row = 0; row < s->batch; row++)
            s->output[row] = sample_row(v, s, row, (uint32_t*)scratch.memory + each * thread_index());
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

int32_t cuda_sample(const float* logits, int32_t* output, const uint64_t* seeds, int batch, int vocab_size, float temperature,
                    void* stream) {
    (void)stream;
    CHECK_ARRAY(logits, batch, vocab_size);
    CHECK_ARRAY(output, batch);
    CHECK_ARRAY(seeds, batch);
    CHECK(temperature >= 0);
    return sample(&(struct sampler){logits, seeds, output, batch, vocab_size, 0, false, 1.0f, temperature});
}

int32_t cuda_topk_sample(const float* logits, int32_t* output, const uint64_t* seeds, int batch, int vocab_size, int k,
                         float temperature, void* stream) {
    (void)stream;
    CHECK_ARRAY(logits, batch, vocab_size);
    CHECK_ARRAY(output, batch);
    CHECK_ARRAY(seeds, batch);
    CHECK(k >= 1 && temperature >= 0);
    return sample(&(struct sampler){logits, seeds, output, batch, vocab_size, min64(k, vocab_size), false, 1.0f, temperature});
}

int32_t cuda_topp_sample(const float* logits, int32_t* output, const uint64_t* seeds, int batch, int vocab_size, float top_p,
                         float temperature, void* stream) {
    (void)stream;
    CHECK_ARRAY(logits, batch, vocab_size);
    CHECK_ARRAY(output, batch);
    CHECK_ARRAY(seeds, batch);
    CHECK(top_p == top_p && temperature >= 0);
    return sample(&(struct sampler){logits, seeds, output, batch, vocab_size, vocab_size, true, top_p, temperature});
}
