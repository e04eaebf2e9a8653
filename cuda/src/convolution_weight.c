/* Gradients of a convolution's weight and bias: sums over the outputs of every sample.  The transpose of a weight's gradient is
 * windows . d_output^T, block by block; where there are few blocks, each is cut into parts of the batch, which are then added
 * in order.  Cuts are made where the sizes say, so that no sum depends on the number of threads. */
#include "convolution.h"
#include "parallel.h"
#include "scratch.h"

/* Of a block: taps by output channels.  Its windows (256 kB at most) and d_output share a core's second-level cache. */
enum { MOST_TAPS = 256, LEAST_TAPS = 32, MOST_CHANNELS = 256, ENOUGH_TASKS = 16 };

struct plan {
    struct windows windows;
    const float *input, *d_output;
    float* sums; /* (part, group, tap, output channel of the group) */
    int64_t batch, groups, channels; /* channels: output channels of a group */
    int64_t block_taps, block_channels, parts;
};

static int64_t blocks_of(const struct plan* p) {
    return p->groups * ceil_div(depth_of(&p->windows), p->block_taps) * ceil_div(p->channels, p->block_channels);
}

static int64_t sums_of(const struct plan* p) { return p->groups * depth_of(&p->windows) * p->channels; }

/* Parts of the batch first, as every block of taps packs d_output once more; of two samples at least, as each has sums of its
 * own.  Where these are too few tasks, more blocks of taps. */
static void divide(struct plan* p) {
    const int64_t depth = depth_of(&p->windows);
    p->block_channels = min64(MOST_CHANNELS, p->channels);
    p->block_taps = ceil_div(depth, ceil_div(depth, MOST_TAPS));
    p->parts = max64(1, min64(p->batch / 2, ENOUGH_TASKS / blocks_of(p)));
    const int64_t others = p->parts * blocks_of(p) / ceil_div(depth, p->block_taps);
    if (p->parts * blocks_of(p) < ENOUGH_TASKS)
        p->block_taps = max64(min64(LEAST_TAPS, p->block_taps), ceil_div(depth, ceil_div(ENOUGH_TASKS, others)));
}

/* What a thread works in: a strip, panels of d_output, windows, and their frame. */
struct memory {
    float *strip, *panels, *rows, *frame;
};

/* Adds one sample's outputs from `output` on to the sums of a block. */
static void add_outputs(const struct simd* v, const struct plan* p, const float* planes, const float* d_output, struct part part,
                        int64_t channels, bool is_first, const struct memory* m, float* sums) {
    const int64_t outputs = outputs_of(&p->windows);
    lay_out_windows(v, &p->windows, planes, part, m->frame, PANEL_DEPTH, m->rows);
    v->pack((struct matrix){d_output + part.output, 1, outputs}, part.count, channels, m->panels);
    v->multiply((struct matrix){m->rows, PANEL_DEPTH, 1}, m->panels, part.count * v->panel, part.depth, part.count, channels, 1.0f,
                is_first ? 0.0f : 1.0f, sums, p->channels, m->strip);
}

/* Parts of a sample's outputs are as equal as whole vectors let them be. */
static int64_t outputs_at_once(int64_t outputs) { return round_up(ceil_div(outputs, ceil_div(outputs, PANEL_DEPTH)), WIDEST_VECTOR); }

static void do_task(const struct simd* v, const struct plan* p, int64_t task, const struct memory* m) {
    const struct windows* const w = &p->windows;
    const int64_t depth = depth_of(w), outputs = outputs_of(w), run = outputs_at_once(outputs), in_plane = w->down.length * w->across.length;
    const int64_t across = ceil_div(p->channels, p->block_channels), down = ceil_div(depth, p->block_taps);
    const int64_t channel = task % across * p->block_channels, tap = task / across % down * p->block_taps;
    const int64_t group = task / across / down % p->groups, number = task / blocks_of(p);
    const int64_t channels = min64(p->block_channels, p->channels - channel), taps = min64(p->block_taps, depth - tap);
    const int64_t first = number * p->batch / p->parts, end = (number + 1) * p->batch / p->parts;
    float* const sums = p->sums + ((number * p->groups + group) * depth + tap) * p->channels + channel;
    for (int64_t b = first; b < end; b++) {
        const int64_t image = b * p->groups + group;
        const float* const planes = p->input + image * w->channels * in_plane;
        const float* const d_output = p->d_output + (image * p->channels + channel) * outputs;
        for (int64_t output = 0; output < outputs; output += run) {
            const struct part part = {tap, taps, output, min64(run, outputs - output)};
            add_outputs(v, p, planes, d_output, part, channels, b == first && output == 0, m, sums);
        }
    }
}

/* d_weight = beta * d_weight + the parts' sums, turned: of some channels, whose sums lie side by side, at a time. */
static void gather(const struct plan* p, float beta, float* d_weight) {
    enum { ABREAST = 16 };
    const int64_t depth = depth_of(&p->windows), each = sums_of(p), across = ceil_div(p->channels, ABREAST);
    PARALLEL_FOR(each * p->parts >= SERIAL_BELOW)
    for (int64_t some = 0; some < p->groups * across; some++) {
        const int64_t group = some / across, channel = some % across * ABREAST, count = min64(ABREAST, p->channels - channel);
        for (int64_t k = 0; k < depth; k++)
            for (int64_t o = 0; o < count; o++) {
                const float* const from = p->sums + (group * depth + k) * p->channels + channel + o;
                float* const to = d_weight + (group * p->channels + channel + o) * depth + k;
                float sum = from[0];
                for (int64_t part = 1; part < p->parts; part++) sum += from[part * each];
                *to = beta == 0 ? sum : sum + beta * *to;
            }
    }
}

static int32_t sum_all(struct plan* p, float beta, float* d_weight) {
    const struct simd* const v = simd();
    divide(p);
    const int64_t panels = round_up(p->block_channels, v->panel) * PANEL_DEPTH, rows = p->block_taps * PANEL_DEPTH + WIDEST_VECTOR;
    const int64_t frame = frame_size(&p->windows, p->block_taps, min64(PANEL_DEPTH, outputs_of(&p->windows)));
    if (frame < 0 || frame > INT64_MAX / thread_count() / 8) return ASSAYER_NO_MEMORY;
    const int64_t each = v->strip + panels + rows + round_up(frame, WIDEST_VECTOR), tasks = blocks_of(p) * p->parts;
    const double flops = 2.0 * (double)sums_of(p) * (double)p->batch * (double)outputs_of(&p->windows);
    const struct scratch sums = scratch_take(sums_of(p) * p->parts, sizeof(float)), scratch = scratch_take(each * thread_count(), sizeof(float));
    const bool is_there = sums.memory && scratch.memory;
    if (is_there) {
        p->sums = sums.memory;
        PARALLEL_TASKS(flops >= SERIAL_BELOW_FLOPS)
        for (int64_t task = 0; task < tasks; task++) {
            float* const own = (float*)scratch.memory + each * thread_index();
            do_task(v, p, task, &(struct memory){own, own + v->strip, own + v->strip + panels, own + v->strip + panels + rows});
        }
        gather(p, beta, d_weight);
    }
    scratch_give(scratch);
    scratch_give(sums);
    return is_there ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

int32_t cuda_conv2d_backward_weight(const float* input, const float* d_output, float* d_weight, int batch, int in_channels, int height,
                                    int width, int out_channels, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h,
                                    int pad_w, int dilation_h, int dilation_w, int groups, float beta, void* stream) {
    (void)stream;
    const struct sizes s = SIZES;
    CHECK(sizes_make_sense(&s));
    CHECK_INPUT(input, &s);
    CHECK_OUTPUT(d_output, &s);
    CHECK_WEIGHT(d_weight, &s);
    struct plan plan = {.windows = windows_of(&s), .input = input, .d_output = d_output,
                        .batch = batch, .groups = groups, .channels = out_channels / groups};
    return sum_all(&plan, beta, d_weight);
}

int32_t cuda_conv2d_backward_bias(const float* d_output, float* d_bias, int batch, int out_channels, int out_h, int out_w, float beta,
                                  void* stream) {
    (void)stream;
    CHECK_ARRAY(d_output, batch, out_channels, out_h, out_w);
    CHECK_ARRAY(d_bias, out_channels);
    const struct simd* const v = simd();
    const int64_t plane = (int64_t)out_h * out_w;
    PARALLEL_FOR(plane * batch * out_channels >= SERIAL_BELOW)
    for (int64_t o = 0; o < out_channels; o++) {
        double sum = 0;
        for (int64_t b = 0; b < batch; b++) sum += v->total(plane, d_output + (b * out_channels + o) * plane);
        d_bias[o] = (float)(beta == 0 ? sum : sum + (double)beta * d_bias[o]);
    }
    return ASSAYER_OK;
}
