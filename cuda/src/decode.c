/* Choosing the next token. */
#include "check.h"
#include "lanes.h"
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

/* A row being sampled: n entries, entry j of the walk is column order[j] (j itself where order is null) with the weight
 * weights[j]; all of length vocab_size. */
struct walk {
    float* weights;
    int32_t* order;
    int64_t n;
};

/* weights = exp((logit - largest) / temperature) in the order of the walk: the softmax, up to its sum.  The quotient is taken
 * in double, as a small temperature would make it infinite. */
static void weigh(const struct lanes* v, const float* logits, float temperature, const struct walk* walk) {
    float most = -INFINITY;
    for (int64_t j = 0; j < walk->n; j++) {
        const float x = logits[walk->order ? walk->order[j] : j];
        if (!(x <= most)) most = x;
    }
    for (int64_t j = 0; j < walk->n; j++)
        walk->weights[j] = (float)(((double)logits[walk->order ? walk->order[j] : j] - most) / temperature);
    v->exp_shifted(walk->n, walk->weights, 0.0f, walk->weights);
}

/* The first entry with u * sum < cumulative weight; the last one with a weight where rounding leaves none. */
static int32_t take(const struct walk* walk, double u) {
    double total = 0, cumulative = 0;
    int64_t last = 0;
    for (int64_t j = 0; j < walk->n; j++) total += walk->weights[j];
    for (int64_t j = 0; j < walk->n; j++) {
        cumulative += walk->weights[j];
        if (walk->weights[j] > 0) last = j;
        if (u * total < cumulative) {
            last = j;
            break;
        }
    }
    return walk->order ? walk->order[last] : (int32_t)last;
}

/* The length of the smallest prefix whose share of the sum reaches top_p; 1 or more. */
static int64_t prefix(const struct walk* walk, float top_p) {
    double total = 0, cumulative = 0;
    for (int64_t j = 0; j < walk->n; j++) total += walk->weights[j];
    for (int64_t j = 0; j < walk->n; j++) {
        cumulative += walk->weights[j];
        if (cumulative >= top_p * total) return j + 1;
    }
    return walk->n;
}

struct sampler {
    const float* logits;
    const uint64_t* seeds;
    int32_t* output;
    int64_t batch, vocab_size;
    int64_t k;          /* columns sorted and kept: 0 keeps all in column order */
    float top_p, temperature;
};

static int32_t sample_row(const struct lanes* v, const struct sampler* s, int64_t row, uint32_t* memory) {
    const float* const logits = s->logits + row * s->vocab_size;
    const int n = (int)s->vocab_size;
    if (s->temperature == 0) return first_largest(logits, n);
    struct walk walk = {(float*)memory, NULL, n};
    if (s->k) {
        walk.n = s->k;
        walk.order = (int32_t*)(memory + n);
        largest(logits, n, (int)s->k, walk.order, memory + 2 * (int64_t)n);
    }
    weigh(v, logits, s->temperature, &walk);
    if (s->top_p < 1) walk.n = prefix(&walk, s->top_p);
    return take(&walk, uniform(s->seeds[row], row));
}

static int32_t sample(const struct sampler* s) {
    const int64_t each = 2 * s->vocab_size + order_memory((int)s->vocab_size, (int)s->k);
    const struct scratch scratch = scratch_take(each * thread_count(), sizeof(uint32_t));
    if (scratch.memory) {
        const struct lanes* const v = lanes();
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
    return sample(&(struct sampler){logits, seeds, output, batch, vocab_size, 0, 1.0f, temperature});
}

int32_t cuda_topk_sample(const float* logits, int32_t* output, const uint64_t* seeds, int batch, int vocab_size, int k,
                         float temperature, void* stream) {
    (void)stream;
    CHECK_ARRAY(logits, batch, vocab_size);
    CHECK_ARRAY(output, batch);
    CHECK_ARRAY(seeds, batch);
    CHECK(k >= 1 && temperature >= 0);
    return sample(&(struct sampler){logits, seeds, output, batch, vocab_size, min64(k, vocab_size), 1.0f, temperature});
}

int32_t cuda_topp_sample(const float* logits, int32_t* output, const uint64_t* seeds, int batch, int vocab_size, float top_p,
                         float temperature, void* stream) {
    (void)stream;
    CHECK_ARRAY(logits, batch, vocab_size);
    CHECK_ARRAY(output, batch);
    CHECK_ARRAY(seeds, batch);
    CHECK(top_p == top_p && temperature >= 0);
    return sample(&(struct sampler){logits, seeds, output, batch, vocab_size, vocab_size, top_p, temperature});
}
