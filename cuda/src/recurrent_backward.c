/* Gradients of recurrent layers: from the last step to the first the gradient of the sums before the functions, each by the
 * small product with w_h, which is packed once; then those of input and weights, one product each over all steps. */
#include "recurrent.h"
#include "assayer.h"

#include <string.h>

struct backward {
    struct layer layer;
    const float *output, *cells, *gates, *d_output; /* those that the layer has */
    float *d_input, *d_w_x, *d_w_h, *d_b_x, *d_b_h, *d_h0, *d_c0;
    float *d_x, *d_h;               /* [batch, steps, rows]: of w_x . x and of w_h . h; one array where they are equal */
    float *carried_h, *carried_c;   /* [batch, hidden_dim]: what came back to the states before the last step that is done */
    float *h; /* [batch, steps, hidden_dim]: before each step */
    float beta, carried_on; /* carried_on: 1 where the step leaves in carried_h what goes past the weights, else 0 */
    void (*step)(const struct simd* v, const struct backward* b, int64_t sample, int64_t step);
};

static void rnn_tanh(const struct simd* v, const struct backward* b, int64_t sample, int64_t step) {
    const int64_t h = b->layer.hidden_dim, at = (sample * b->layer.steps + step) * h;
    v->tanh_step_backward(h, b->output + at, b->d_output + at, b->carried_h + sample * h, b->d_h + at);
}

static void rnn_relu(const struct simd* v, const struct backward* b, int64_t sample, int64_t step) {
    const int64_t h = b->layer.hidden_dim, at = (sample * b->layer.steps + step) * h;
    v->relu_step_backward(h, b->output + at, b->d_output + at, b->carried_h + sample * h, b->d_h + at);
}

static void lstm(const struct simd* v, const struct backward* b, int64_t sample, int64_t step) {
    const struct layer* const l = &b->layer;
    const int64_t h = l->hidden_dim, at = sample * l->steps + step;
    const struct lstm_step here = {b->gates + at * 4 * h, b->cells + at * h, state_before(l, b->cells, l->c0, sample, step),
                                   b->d_output + at * h};
    v->lstm_step_backward(h, &here, b->carried_h + sample * h, b->carried_c + sample * h, b->d_h + at * l->rows);
}

static void gru(const struct simd* v, const struct backward* b, int64_t sample, int64_t step) {
    const struct layer* const l = &b->layer;
    const int64_t h = l->hidden_dim, at = sample * l->steps + step;
    const struct gru_step here = {b->gates + at * 4 * h, b->h + at * h, b->d_output + at * h};
    v->gru_step_backward(h, &here, b->carried_h + sample * h, b->d_x + at * l->rows, b->d_h + at * l->rows);
}

static void through_steps(const struct simd* v, const struct backward* b, const float* w_h, struct samples block, float* strip) {
    const struct layer* const l = &b->layer;
    const int64_t h = l->hidden_dim;
    for (int64_t i = 0; i < block.count * l->steps; i++) {
        const int64_t sample = block.first + i / l->steps, step = i % l->steps;
        memcpy(b->h + (sample * l->steps + step) * h, state_before(l, b->output, l->h0, sample, step), (size_t)h * sizeof(float));
    }
    for (int64_t step = l->steps - 1; step >= 0; step--) {
        for (int64_t i = 0; i < block.count; i++) b->step(v, b, block.first + i, step);
        const struct matrix d_h = {b->d_h + (block.first * l->steps + step) * l->rows, l->steps * l->rows, 1};
        v->multiply(d_h, w_h, l->rows * v->panel, block.count, l->rows, h, 1.0f, b->carried_on, b->carried_h + block.first * h, h, strip);
    }
}

static int32_t multiply_gradients(const struct backward* b) {
    const struct layer* const l = &b->layer;
    const int64_t n = l->batch * l->steps;
    struct product products[] = {
        {.a = plain(b->d_x, l->rows), .b = plain(l->w_x, l->input_dim), .c = b->d_input, .c_row = l->input_dim, .rows = n,
         .columns = l->input_dim, .depth = l->rows, .fresh = true},
        {.a = transposed(b->d_x, l->rows), .b = plain(l->input, l->input_dim), .c = b->d_w_x, .c_row = l->input_dim,
         .rows = l->rows, .columns = l->input_dim, .depth = n},
        {.a = transposed(b->d_h, l->rows), .b = plain(b->h, l->hidden_dim), .c = b->d_w_h, .c_row = l->hidden_dim,
         .rows = l->rows, .columns = l->hidden_dim, .depth = n}};
    return multiply_all(products, sizeof products / sizeof *products, 1.0f, b->beta);
}

/* d_bias = beta * d_bias + the sum over all steps of d_pre; the columns are shared among threads. */
static void add_bias_gradient(const struct simd* v, const struct backward* b, const float* d_pre, float* d_bias) {
    enum { COLUMNS = 128 };
    const int64_t rows = b->layer.rows, n = b->layer.batch * b->layer.steps;
    PARALLEL_FOR(n * rows >= SERIAL_BELOW)
    for (int64_t part = 0; part < ceil_div(rows, COLUMNS); part++) {
        const int64_t first = part * COLUMNS, count = min64(COLUMNS, rows - first);
        float sums[COLUMNS] = {0};
        for (int64_t i = 0; i < n; i++) v->axpy(count, 1.0f, d_pre + i * rows + first, sums);
        if (b->beta != 0) v->axpy(count, b->beta, d_bias + first, sums);
        memcpy(d_bias + first, sums, (size_t)count * sizeof(float));
    }
}

/* What is written once nothing can fail any more. */
static void write_rest(const struct simd* v, const struct backward* b) {
    const size_t bytes = (size_t)(b->layer.batch * b->layer.hidden_dim) * sizeof(float);
    memcpy(b->d_h0, b->carried_h, bytes);
    if (b->d_c0) memcpy(b->d_c0, b->carried_c, bytes);
    add_bias_gradient(v, b, b->d_x, b->d_b_x);
    if (b->d_b_h) add_bias_gradient(v, b, b->d_h, b->d_b_h);
}

static int32_t run(const struct simd* v, struct backward* b, float* memory, int64_t blocks, float* w_h) {
    struct layer* const l = &b->layer;
    const int64_t n = l->batch * l->steps, states = l->batch * l->hidden_dim;
    float* const zero = memory + blocks * v->strip;
    b->carried_h = zero + states;
    b->carried_c = b->carried_h + states;
    memset(zero, 0, (size_t)(3 * states) * sizeof(float));
    if (!l->h0) l->h0 = zero;
    if (!l->c0) l->c0 = zero;
    b->h = b->carried_c + states;
    b->d_h = b->h + n * l->hidden_dim;
    b->d_x = b->carried_on != 0 ? b->d_h + n * l->rows : b->d_h;
    v->pack(plain(l->w_h, l->hidden_dim), l->rows, l->hidden_dim, w_h);
    PARALLEL_TASKS(n * l->rows >= SERIAL_BELOW)
    for (int64_t block = 0; block < blocks; block++) through_steps(v, b, w_h, samples_of(l, block), memory + block * v->strip);
    const int32_t code = multiply_gradients(b);
    if (code == ASSAYER_OK) write_rest(v, b);
    return code;
}

static int32_t backward(struct backward b) {
    const struct simd* const v = simd();
    const struct layer* const l = &b.layer;
    const int64_t blocks = blocks_of_samples(l), packed = packed_floats(v, l->rows, l->hidden_dim), n = l->batch * l->steps;
    const int64_t rows = b.carried_on != 0 ? 2 * l->rows : l->rows;
    const struct scratch scratch =
        scratch_take(packed + blocks * v->strip + 3 * l->batch * l->hidden_dim + n * (l->hidden_dim + rows), sizeof(float));
    float* const memory = scratch.memory;
    const int32_t code = memory ? run(v, &b, memory + packed, blocks, memory) : ASSAYER_NO_MEMORY;
    scratch_give(scratch);
    return code;
}

int32_t cuda_rnn_backward(const float* input, const float* w_x, const float* w_h, const float* h0, const float* output,
                          const float* d_output, float* d_input, float* d_w_x, float* d_w_h, float* d_bias, float* d_h0, int batch,
                          int steps, int input_dim, int hidden_dim, int activation, int has_h0, float beta, void* stream) {
    (void)stream;
    CHECK_GRADIENTS(1);
    CHECK_ARRAY_IF(has_h0, h0, batch, hidden_dim);
    CHECK_ARRAY(d_bias, hidden_dim);
    CHECK(activation == ASSAYER_RELU || activation == ASSAYER_TANH);
    return backward((struct backward){.layer = LAYER(1, has_h0, h0, NULL), .output = output, .d_output = d_output,
                                      .d_input = d_input, .d_w_x = d_w_x, .d_w_h = d_w_h, .d_b_x = d_bias, .d_h0 = d_h0,
                                      .beta = beta, .step = activation == ASSAYER_TANH ? rnn_tanh : rnn_relu});
}

int32_t cuda_lstm_backward(const float* input, const float* w_x, const float* w_h, const float* h0, const float* c0,
                           const float* output, const float* cells, const float* gates, const float* d_output, float* d_input,
                           float* d_w_x, float* d_w_h, float* d_bias, float* d_h0, float* d_c0, int batch, int steps, int input_dim,
                           int hidden_dim, int has_state, float beta, void* stream) {
    (void)stream;
    CHECK_GRADIENTS(4);
    CHECK_ARRAY_IF(has_state, h0, batch, hidden_dim);
    CHECK_ARRAY_IF(has_state, c0, batch, hidden_dim);
    CHECK_ARRAY(cells, batch, steps, hidden_dim);
    CHECK_ARRAY(gates, batch, steps, (int64_t)4 * hidden_dim);
    CHECK_ARRAY(d_bias, (int64_t)4 * hidden_dim);
    CHECK_ARRAY(d_c0, batch, hidden_dim);
    return backward((struct backward){.layer = LAYER(4, has_state, h0, c0), .output = output, .cells = cells, .gates = gates,
                                      .d_output = d_output, .d_input = d_input, .d_w_x = d_w_x, .d_w_h = d_w_h, .d_b_x = d_bias,
                                      .d_h0 = d_h0, .d_c0 = d_c0, .beta = beta, .step = lstm});
}

int32_t cuda_gru_backward(const float* input, const float* w_x, const float* w_h, const float* h0, const float* output,
                          const float* gates, const float* d_output, float* d_input, float* d_w_x, float* d_w_h, float* d_b_x,
                          float* d_b_h, float* d_h0, int batch, int steps, int input_dim, int hidden_dim, int has_h0, float beta,
                          void* stream) {
    (void)stream;
    CHECK_GRADIENTS(3);
    CHECK_ARRAY_IF(has_h0, h0, batch, hidden_dim);
    CHECK_ARRAY(gates, batch, steps, (int64_t)4 * hidden_dim);
    CHECK_ARRAY(d_b_x, (int64_t)3 * hidden_dim);
    CHECK_ARRAY(d_b_h, (int64_t)3 * hidden_dim);
    return backward((struct backward){.layer = LAYER(3, has_h0, h0, NULL), .output = output, .gates = gates,
                                      .d_output = d_output, .d_input = d_input, .d_w_x = d_w_x, .d_w_h = d_w_h, .d_b_x = d_b_x,
                                      .d_b_h = d_b_h, .d_h0 = d_h0, .beta = beta, .carried_on = 1.0f, .step = gru});
}
