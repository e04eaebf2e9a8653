/* Convolutions as products of weights and packed windows.  A block of a sample's outputs is one task: its thread packs what the
 * taps meet there, PANEL_DEPTH taps at a time, and multiplies all weights of a group with it.  Every element of a result is
 * summed in one order, whatever the blocks. */
#include "convolution.h"
#include "parallel.h"
#include "scratch.h"

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

int32_t convolve_packed(struct convolution* o) {
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
