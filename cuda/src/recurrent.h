/* What recurrent layers share, forward and backward.  Samples go through the steps apart from each other, so that threads
 * share the samples and never wait for one another. */
#ifndef ASSAYER_RECURRENT_H
#define ASSAYER_RECURRENT_H

#include "parallel.h"
#include "product.h"
#include "recurrent_arguments.h"
#include "scratch.h"

/* rows: of a weight, hidden_dim for each part that it has. */
struct layer {
    const float *input, *w_x, *w_h, *h0, *c0; /* h0 and c0 are null where they are 0 */
    int64_t batch, steps, input_dim, hidden_dim, rows;
};

/* Samples [first, first + count). */
struct samples {
    int64_t first, count;
};

static inline int64_t blocks_of_samples(const struct layer* l) { return min64(l->batch, thread_count()); }

static inline struct samples samples_of(const struct layer* l, int64_t block) {
    const int64_t blocks = blocks_of_samples(l), first = block * l->batch / blocks;
    return (struct samples){first, (block + 1) * l->batch / blocks - first};
}

/* Floats of a packed factor. */
static inline int64_t packed_floats(const struct simd* v, int64_t depth, int64_t columns) { return depth * round_up(columns, v->panel); }

/* Where the state of a sample before a step lies: in a sequence of states, or at the start. */
static inline const float* state_before(const struct layer* l, const float* states, const float* start, int64_t sample, int64_t step) {
    const int64_t h = l->hidden_dim;
    return step ? states + (sample * l->steps + step - 1) * h : start + sample * h;
}

/* The same of consecutive samples, as a matrix. */
static inline struct matrix states_before(const struct layer* l, const float* states, const float* start, int64_t sample, int64_t step) {
    const int64_t h = l->hidden_dim;
    return (struct matrix){state_before(l, states, start, sample, step), step ? l->steps * h : h, 1};
}

#define LAYER(parts, has_state, h0, c0)                                                                                    \
    {input, w_x, w_h, (has_state) ? (h0) : NULL, (has_state) ? (c0) : NULL, batch, steps, input_dim, hidden_dim,           \
     (int64_t)(parts) * hidden_dim}

#endif
