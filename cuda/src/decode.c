/* Choosing the next token. */
#include "check.h"
#include "simd.h"
#include "nucleus.h"
#include "order.h"
#include "parallel.h"
#include "scratch.h"

#include <math.h>

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
    int64_t k;       /* columns in the walk, those of the largest logits first; 0: all, in column order */
    bool of_nucleus; /* the largest probabilities that come to top_p: at an infinite temperature all are equal */
    float top_p, temperature;
};

/* (logit - largest) / temperature, the argument of the softmax.  The quotient is taken in double, where a small temperature does not
 * make it infinite. */
static float tempered(float logit, float row_max, float temperature) { return (float)(((double)logit - row_max) / temperature); }

/* The place in the walk of the first entry with u < cumulative probability; the first of all where a probability is NaN.
 * Weights are probabilities up to their sum. */
static int64_t take(const float* weights, int64_t n, double u) {
    double total = 0, cumulative = weights[0];
    for (int64_t j = 0; j < n; j++) total += weights[j];
    if (!isfinite(total)) return 0;
    /* The last entry ends the walk: the total is summed in its order, and u is below 1. */
    int64_t place = 0;
    while (u * total >= cumulative) cumulative += weights[++place];
    return place;
}

static int32_t sample_largest(const struct simd* v, const struct sampler* s, const float* logits, float row_max, double u,
                              uint32_t* memory) {
    int32_t* const order = (int32_t*)memory;
    float* const weights = (float*)(memory + s->k);
    largest(logits, (int)s->vocab_size, (int)s->k, order, memory + 2 * s->k);
    for (int64_t j = 0; j < s->k; j++) weights[j] = tempered(logits[order[j]], row_max, s->temperature);
    v->exp_shifted(s->k, weights, 0.0f, weights);
    return order[take(weights, s->k, u)];
}

static int32_t sample_row(const struct simd* v, const struct sampler* s, int64_t row, uint32_t* memory) {
    const int64_t n = s->vocab_size;
    const float *const logits = s->logits + row * n, row_max = v->maximum(n, logits);
    const double u = uniform(s->seeds[row], row);
    if (s->temperature == 0) return first_largest(logits, (int)n);
    if (s->k) return sample_largest(v, s, logits, row_max, u, memory);
    float *const arguments = (float*)memory, *const weights = arguments + n;
    for (int64_t j = 0; j < n; j++) arguments[j] = tempered(logits[j], row_max, s->temperature);
    const double sum = v->exp_shifted(n, arguments, 0.0f, weights);
    if (!s->of_nucleus) return (int32_t)take(weights, n, u);
    if (isnan(sum)) return first_largest(arguments, (int)n);
    return draw_from_nucleus(arguments, weights, (int)n, s->top_p, u, memory + 2 * n);
}

/* Words of memory for a row. */
static int64_t row_memory(const struct sampler* s) {
    const int n = (int)s->vocab_size;
    return s->k ? 2 * s->k + order_memory(n, (int)s->k) : 2 * s->vocab_size + (s->of_nucleus ? nucleus_memory(n) : 0);
}

static int32_t sample(const struct sampler* s) {
    const int64_t each = row_memory(s);
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
    return sample(&(struct sampler){logits, seeds, output, batch, vocab_size, 0, true, top_p, temperature});
}
