/* Convolutions whose windows are one place apart, as products of weights and a frame.  Rows of outputs are computed as wide as
 * the frame is: so what a tap meets lies side by side in it, row after row, and nothing has to be packed.  What stands across a
 * row's end is left behind as the results are copied out.  A block of a sample's rows is one task.  Every element of a result
 * is summed in one order, whatever the blocks. */
#include "convolution.h"
#include "assayer.h"
#include "parallel.h"
#include "scratch.h"

/* Of a block: its results, too, stay in the cache between parts of the taps. */
enum { MOST_ROWS = 512 };

/* Taps of a part: parts are as equal as can be. */
static int64_t part_depth(const struct windows* w) {
    const int64_t depth = depth_of(w);
    return ceil_div(depth, ceil_div(depth, PANEL_DEPTH));
}

static int64_t columns_of(const struct simd* v, const struct windows* w, int64_t lines) {
    return round_up(lines * frame_width(w), v->panel);
}

/* What is read of a frame past its end: the last tap's way along a row, and the rest of a panel. */
static int64_t beyond_frame(const struct simd* v, const struct windows* w) {
    return (w->across.kernel - 1) * w->across.dilation + v->panel;
}

/* Rows of outputs in a block: block_outputs is their outputs. */
static int64_t lines_of(const struct convolution* o) { return o->block_outputs / o->windows.across.outputs; }

static int64_t tasks_of(const struct convolution* o) {
    return o->batch * o->groups * ceil_div(o->rows, o->block_rows) * ceil_div(o->windows.down.outputs, lines_of(o));
}

static void divide(struct convolution* o) {
    const struct windows* const w = &o->windows;
    const int64_t most = max64(1, min64(w->down.outputs, MOST_OUTPUTS / frame_width(w))), across = w->across.outputs;
    o->block_rows = ceil_div(o->rows, ceil_div(o->rows, MOST_ROWS));
    o->block_outputs = across * ceil_div(w->down.outputs, ceil_div(w->down.outputs, most));
    while (tasks_of(o) < TASKS * (int64_t)thread_count()) {
        if (lines_of(o) >= 2 && o->block_outputs >= 2 * LEAST_OUTPUTS) o->block_outputs = across * ceil_div(lines_of(o), 2);
        else if (o->block_rows >= 2 * LEAST_ROWS) o->block_rows = ceil_div(o->block_rows, 2);
        else break;
    }
}

/* Rows of a group and lines of an image that one task computes. */
struct block {
    int64_t image, row, rows, line, lines;
};

static struct block block_of(const struct convolution* o, int64_t task) {
    const int64_t lines = lines_of(o), along = ceil_div(o->windows.down.outputs, lines), down = ceil_div(o->rows, o->block_rows);
    const int64_t row = task / along % down * o->block_rows, line = task % along * lines;
    return (struct block){task / along / down, row, min64(o->block_rows, o->rows - row), line, min64(lines, o->windows.down.outputs - line)};
}

/* What a thread works in: a strip, the block's results, a frame. */
struct memory {
    float *strip, *wide, *frame;
};

static void copy_out(const struct simd* v, const struct convolution* o, const struct block* b, const float* wide, int64_t wide_row) {
    const int64_t across = o->windows.across.outputs, width = frame_width(&o->windows);
    const float* const bias = o->bias ? o->bias + b->image % o->groups * o->rows + b->row : NULL;
    float* const c = o->c + (b->image * o->rows + b->row) * outputs_of(&o->windows) + b->line * across;
    for (int64_t i = 0; i < b->rows; i++)
        v->add_to_rows(b->lines, across, wide + i * wide_row, width, bias ? bias[i] : 0.0f, c + i * outputs_of(&o->windows), across);
}

static void do_task(const struct simd* v, const struct convolution* o, int64_t task, const struct memory* m) {
    const struct windows* const w = &o->windows;
    const struct block b = block_of(o, task);
    const int64_t depth = depth_of(w), most = part_depth(w), columns = columns_of(v, w, b.lines), across = w->across.outputs;
    const float* const planes = o->planes + b.image * w->channels * w->down.length * w->across.length;
    const float* const a = o->a + (b.image % o->groups * o->rows + b.row) * depth;
    int64_t places[PANEL_DEPTH];
    for (int64_t k = 0; k < depth; k += most) {
        const struct part part = {k, min64(most, depth - k), b.line * across, b.lines * across};
        frame_windows(w, planes, part, beyond_frame(v, w), m->frame, places);
        v->multiply_apart((struct matrix){a + k, depth, 1}, m->frame, places, b.rows, part.depth, columns, k > 0 ? 1.0f : 0.0f,
                          m->wide, columns, m->strip);
    }
    copy_out(v, o, &b, m->wide, columns);
}

int32_t convolve_dense(struct convolution* o) {
    const struct simd* const v = simd();
    divide(o);
    const int64_t frame = frame_size(&o->windows, part_depth(&o->windows), o->block_outputs);
    if (frame < 0 || frame > INT64_MAX / thread_count() / 16) return ASSAYER_NO_MEMORY;
    const int64_t wide = o->block_rows * columns_of(v, &o->windows, lines_of(o));
    const int64_t each = v->strip + wide + round_up(frame + beyond_frame(v, &o->windows), WIDEST_VECTOR), tasks = tasks_of(o);
    const double flops = 2.0 * (double)(o->batch * o->groups * outputs_of(&o->windows)) * (double)o->rows * (double)depth_of(&o->windows);
    const struct scratch scratch = scratch_take(each * thread_count(), sizeof(float));
    if (scratch.memory) {
        PARALLEL_TASKS(flops >= SERIAL_BELOW_FLOPS)
        for (int64_t task = 0; task < tasks; task++) {
            float* const own = (float*)scratch.memory + each * thread_index();
            do_task(v, o, task, &(struct memory){own, own + v->strip, own + v->strip + wide});
        }
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}
