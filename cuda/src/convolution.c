/* Convolutions as products of weights and windows.  A block of a sample's outputs is one task: its thread packs what the taps
 * meet there, PANEL_DEPTH taps at a time, and multiplies all weights of a group with it.  Every element of a result is summed
 * in one order, whatever the blocks. */
#include "convolution.h"
#include "parallel.h"
#include "scratch.h"

/* As those of product.c: packed windows stay in a core's second-level cache. */
enum { MOST_OUTPUTS = 512, LEAST_OUTPUTS = 128, LEAST_ROWS = 128, TASKS = 2 };
static const double SERIAL_BELOW_FLOPS = 500e3;

/* One convolution of every sample and group: c[b, g] = a[g] . windows of planes[b, g] + bias. */
struct convolution {
    struct windows windows;
    const float *a, *planes, *bias;
    float* c;
    int64_t batch, groups, rows; /* of a and c in a group */
    int64_t block_rows, block_outputs;
};

static int64_t tasks_of(const struct convolution* o) {
    return o->batch * o->groups * ceil_div(o->rows, o->block_rows) * ceil_div(outputs_of(&o->windows), o->block_outputs);
}

/* Halves the blocks until there are tasks enough for every thread, or the blocks are small. */
static void divide(struct convolution* o, int panel) {
    o->block_rows = o->rows;
    o->block_outputs = round_up(min64(MOST_OUTPUTS, outputs_of(&o->windows)), panel);
    while (tasks_of(o) < TASKS * (int64_t)thread_count()) {
        if (o->block_outputs >= 2 * LEAST_OUTPUTS) o->block_outputs = round_up(o->block_outputs / 2, panel);
        else if (o->block_rows >= 2 * LEAST_ROWS) o->block_rows = ceil_div(o->block_rows, 2);
        else break;
    }
}

static void begin_with_bias(const float* bias, int64_t rows, int64_t columns, float* c, int64_t c_row) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) c[i * c_row + j] = bias[i];
}

static void do_task(const struct simd* v, const struct convolution* o, int64_t task, int64_t packed_size, float* memory) {
    const struct windows* const w = &o->windows;
    const int64_t outputs = outputs_of(w), depth = depth_of(w), across = ceil_div(outputs, o->block_outputs);
    const int64_t down = ceil_div(o->rows, o->block_rows), image = task / across / down, group = image % o->groups;
    const int64_t row = task / across % down * o->block_rows, output = task % across * o->block_outputs;
    const int64_t rows = min64(o->block_rows, o->rows - row), count = min64(o->block_outputs, outputs - output);
    const float* const planes = o->planes + image * w->channels * w->down.length * w->across.length;
    const float* const a = o->a + (group * o->rows + row) * depth;
    float* const c = o->c + (image * o->rows + row) * outputs + output;
    float *const packed = memory + v->strip, *const frame = packed + packed_size;
    if (o->bias) begin_with_bias(o->bias + group * o->rows + row, rows, count, c, outputs);
    for (int64_t k = 0; k < depth; k += PANEL_DEPTH) {
        const struct part part = {k, min64(PANEL_DEPTH, depth - k), output, count};
        pack_windows(v, w, planes, part, frame, packed);
        v->multiply((struct matrix){a + k, depth, 1}, packed, part.depth * v->panel, rows, part.depth, count, 1.0f,
                    k > 0 || o->bias ? 1.0f : 0.0f, c, outputs, memory);
    }
}

static int32_t convolve(struct convolution* o) {
    const struct simd* const v = simd();
    divide(o, v->panel);
    const int64_t depth = min64(PANEL_DEPTH, depth_of(&o->windows)), frame = frame_size(&o->windows, depth, o->block_outputs);
    const int64_t packed = round_up(o->block_outputs * depth + WIDEST_VECTOR, WIDEST_VECTOR);
    if (frame < 0 || frame > INT64_MAX / thread_count() / 8) return ASSAYER_NO_MEMORY;
    const int64_t each = v->strip + packed + round_up(frame, WIDEST_VECTOR), tasks = tasks_of(o);
    const double flops = 2.0 * (double)(o->batch * o->groups * outputs_of(&o->windows)) * (double)o->rows * (double)depth_of(&o->windows);
    const struct scratch scratch = scratch_take(each * thread_count(), sizeof(float));
    if (scratch.memory) {
        PARALLEL_TASKS(flops >= SERIAL_BELOW_FLOPS)
        for (int64_t task = 0; task < tasks; task++) do_task(v, o, task, packed, (float*)scratch.memory + each * thread_index());
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

int32_t cuda_conv2d(const float* input, const float* weight, const float* bias, float* output, int batch, int in_channels, int height,
                    int width, int out_channels, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w,
                    int dilation_h, int dilation_w, int groups, int has_bias, void* stream) {
    (void)stream;
    const struct sizes s = SIZES;
    CHECK(sizes_make_sense(&s));
    CHECK_INPUT(input, &s);
    CHECK_WEIGHT(weight, &s);
    CHECK_ARRAY_IF(has_bias != 0, bias, out_channels);
    CHECK_OUTPUT(output, &s);
    struct convolution o = {.windows = windows_of(&s), .a = weight, .planes = input, .bias = has_bias ? bias : NULL, .c = output,
                            .batch = batch, .groups = groups, .rows = out_channels / groups};
    return convolve(&o);
}

/* Each group's weights with input channels for rows, and each kernel from its last tap to its first. */
static void turn_weights(const struct sizes* s, const float* weight, float* turned) {
    const int64_t kernel = s->kernel_h * s->kernel_w, each = s->in_channels / s->groups, rows = s->out_channels / s->groups;
    PARALLEL_FOR(s->out_channels * each * kernel >= SERIAL_BELOW)
    for (int64_t c = 0; c < s->in_channels; c++)
        for (int64_t o = 0; o < rows; o++) {
            const float* const from = weight + ((c / each * rows + o) * each + c % each) * kernel;
            for (int64_t i = 0; i < kernel; i++) turned[(c * rows + o) * kernel + i] = from[kernel - 1 - i];
        }
}

/* What d_input's places are read by: d_output with its elements a stride apart, met by the turned kernel. */
static struct windows windows_back(const struct sizes* s) {
    return (struct windows){
        {out_h(s), s->kernel_h, 1, s->dilation_h, s->dilation_h * (s->kernel_h - 1) - s->pad_h, s->stride_h, s->height},
        {out_w(s), s->kernel_w, 1, s->dilation_w, s->dilation_w * (s->kernel_w - 1) - s->pad_w, s->stride_w, s->width},
        s->out_channels / s->groups};
}

int32_t cuda_conv2d_backward_input(const float* weight, const float* d_output, float* d_input, int batch, int in_channels, int height,
                                   int width, int out_channels, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h,
                                   int pad_w, int dilation_h, int dilation_w, int groups, void* stream) {
    (void)stream;
    const struct sizes s = SIZES;
    CHECK(sizes_make_sense(&s));
    CHECK_WEIGHT(weight, &s);
    CHECK_OUTPUT(d_output, &s);
    CHECK_INPUT(d_input, &s);
    struct convolution o = {.windows = windows_back(&s), .planes = d_output, .c = d_input,
                            .batch = batch, .groups = groups, .rows = in_channels / groups};
    const struct scratch turned = scratch_take(s.in_channels * depth_of(&o.windows), sizeof(float));
    int32_t code = ASSAYER_NO_MEMORY;
    if (turned.memory) {
        turn_weights(&s, weight, turned.memory);
        o.a = turned.memory;
        code = convolve(&o);
    }
    scratch_give(turned);
    return code;
}
