/* Recurrent layers: w_x . x of all steps is one product; then comes step after step, the small product with w_h, which is
 * packed once, and what stands behind it. */
#include "recurrent.h"
#include "assayer.h"

#include <string.h>

struct forward {
    struct layer layer;
    const float *b_x, *b_h;        /* null where they are 0 */
    float *output, *cells, *gates; /* those that the layer has */
    float* sums;                   /* where w_x . x lies, sums_row floats for each step */
    int64_t sums_row;
    float* of_h; /* [batch, rows], where w_h . h is not added to the sums at once */
    void (*step)(const struct simd* v, const struct forward* f, int64_t sample, int64_t step);
};

static void rnn_tanh(const struct simd* v, const struct forward* f, int64_t sample, int64_t step) {
    v->tanh_step(f->layer.hidden_dim, f->b_x, f->output + (sample * f->layer.steps + step) * f->layer.hidden_dim);
}

static void rnn_relu(const struct simd* v, const struct forward* f, int64_t sample, int64_t step) {
    v->relu_step(f->layer.hidden_dim, f->b_x, f->output + (sample * f->layer.steps + step) * f->layer.hidden_dim);
}

static void lstm(const struct simd* v, const struct forward* f, int64_t sample, int64_t step) {
    const struct layer* const l = &f->layer;
    const int64_t h = l->hidden_dim, at = sample * l->steps + step;
    v->lstm_step(h, f->b_x, state_before(l, f->cells, l->c0, sample, step), f->gates + at * 4 * h, f->cells + at * h, f->output + at * h);
}

static void gru(const struct simd* v, const struct forward* f, int64_t sample, int64_t step) {
    const struct layer* const l = &f->layer;
    const int64_t h = l->hidden_dim, at = sample * l->steps + step;
    v->gru_step(h, f->b_x, f->b_h, f->of_h + sample * l->rows, state_before(l, f->output, l->h0, sample, step),
                f->gates + at * 4 * h, f->output + at * h);
}

static void through_steps(const struct simd* v, const struct forward* f, const float* w_h, struct samples block, float* strip) {
    const struct layer* const l = &f->layer;
    for (int64_t step = 0; step < l->steps; step++) {
        const struct matrix h = states_before(l, f->output, l->h0, block.first, step);
        float* const c = f->of_h ? f->of_h + block.first * l->rows : f->sums + (block.first * l->steps + step) * f->sums_row;
        v->multiply(h, w_h, l->hidden_dim * v->panel, block.count, l->hidden_dim, l->rows, 1.0f, f->of_h ? 0.0f : 1.0f, c,
                    f->of_h ? l->rows : l->steps * f->sums_row, strip);
        for (int64_t i = 0; i < block.count; i++) f->step(v, f, block.first + i, step);
    }
}

static int32_t multiply_inputs(const struct forward* f) {
    const struct layer* const l = &f->layer;
    struct product product = {.a = plain(l->input, l->input_dim), .b = transposed(l->w_x, l->input_dim), .c = f->sums,
                              .c_row = f->sums_row, .rows = l->batch * l->steps, .columns = l->rows, .depth = l->input_dim};
    return multiply_all(&product, 1, 1.0f, 0.0f);
}

/* needs_of_h: whether w_h . h stands alone. */
static int32_t forward(struct forward f, bool needs_of_h) {
    const struct simd* const v = simd();
    struct layer* const l = &f.layer;
    const int64_t blocks = blocks_of_samples(l), packed = packed_floats(v, l->hidden_dim, l->rows);
    const int64_t zeros = max64(l->batch * l->hidden_dim, l->rows), apart = needs_of_h ? l->batch * l->rows : 0;
    const struct scratch scratch = scratch_take(packed + blocks * v->strip + zeros + apart, sizeof(float));
    int32_t code = scratch.memory ? multiply_inputs(&f) : ASSAYER_NO_MEMORY;
    if (code == ASSAYER_OK) {
        float *const w_h = scratch.memory, *const strips = w_h + packed, *const zero = strips + blocks * v->strip;
        memset(zero, 0, (size_t)zeros * sizeof(float));
        if (!l->h0) l->h0 = zero;
        if (!l->c0) l->c0 = zero;
        if (!f.b_x) f.b_x = zero;
        if (!f.b_h) f.b_h = zero;
        f.of_h = needs_of_h ? zero + zeros : NULL;
        v->pack(transposed(l->w_h, l->hidden_dim), l->hidden_dim, l->rows, w_h);
        PARALLEL_TASKS(l->batch * l->steps * l->rows >= SERIAL_BELOW)
        for (int64_t block = 0; block < blocks; block++)
            through_steps(v, &f, w_h, samples_of(l, block), strips + block * v->strip);
    }
    scratch_give(scratch);
    return code;
}

int32_t cuda_rnn_forward(const float* input, const float* w_x, const float* w_h, const float* bias, const float* h0, float* output,
                         int batch, int steps, int input_dim, int hidden_dim, int activation, int has_bias, int has_h0, void* stream) {
    (void)stream;
    CHECK_LAYER(1);
    CHECK_ARRAY_IF(has_bias, bias, hidden_dim);
    CHECK_ARRAY_IF(has_h0, h0, batch, hidden_dim);
    CHECK(activation == ASSAYER_RELU || activation == ASSAYER_TANH);
    return forward((struct forward){.layer = LAYER(1, has_h0, h0, NULL), .b_x = has_bias ? bias : NULL, .output = output,
                                    .sums = output, .sums_row = hidden_dim,
                                    .step = activation == ASSAYER_TANH ? rnn_tanh : rnn_relu}, false);
}

int32_t cuda_lstm_forward(const float* input, const float* w_x, const float* w_h, const float* bias, const float* h0,
                          const float* c0, float* output, float* cells, float* gates, int batch, int steps, int input_dim,
                          int hidden_dim, int has_bias, int has_state, void* stream) {
    (void)stream;
    CHECK_LAYER(4);
    CHECK_ARRAY_IF(has_bias, bias, (int64_t)4 * hidden_dim);
    CHECK_ARRAY_IF(has_state, h0, batch, hidden_dim);
    CHECK_ARRAY_IF(has_state, c0, batch, hidden_dim);
    CHECK_ARRAY(cells, batch, steps, hidden_dim);
    CHECK_ARRAY(gates, batch, steps, (int64_t)4 * hidden_dim);
    return forward((struct forward){.layer = LAYER(4, has_state, h0, c0), .b_x = has_bias ? bias : NULL, .output = output,
                                    .cells = cells, .gates = gates, .sums = gates, .sums_row = (int64_t)4 * hidden_dim,
                                    .step = lstm}, false);
}

int32_t cuda_gru_forward(const float* input, const float* w_x, const float* w_h, const float* b_x, const float* b_h,
                         const float* h0, float* output, float* gates, int batch, int steps, int input_dim, int hidden_dim,
                         int has_bias, int has_h0, void* stream) {
    (void)stream;
    CHECK_LAYER(3);
    CHECK_ARRAY_IF(has_bias, b_x, (int64_t)3 * hidden_dim);
    CHECK_ARRAY_IF(has_bias, b_h, (int64_t)3 * hidden_dim);
    CHECK_ARRAY_IF(has_h0, h0, batch, hidden_dim);
    CHECK_ARRAY(gates, batch, steps, (int64_t)4 * hidden_dim);
    return forward((struct forward){.layer = LAYER(3, has_h0, h0, NULL), .b_x = has_bias ? b_x : NULL,
                                    .b_h = has_bias ? b_h : NULL, .output = output, .gates = gates, .sums = gates,
                                    .sums_row = (int64_t)4 * hidden_dim, .step = gru}, true);
}
