/* Frames are small (a slice's channels, a block's rows), so that they stay in the cache while every tap copies from them. */
#include "windows.h"
#include "check.h"
#include "parallel.h"

#include <string.h>

enum { TAPS = PANEL_DEPTH, RUNS = PANEL_DEPTH }; /* of a part at most */

static int64_t span(const struct axis* a, int64_t outputs) { return (outputs - 1) * a->stride + (a->kernel - 1) * a->dilation + 1; }

/* Rows of outputs that so many of them lie in at most. */
static int64_t rows_at_most(const struct windows* w, int64_t count) {
    return min64(w->down.outputs, (count + w->across.outputs - 2) / w->across.outputs + 1);
}

int64_t frame_size(const struct windows* w, int64_t depth, int64_t count) {
    const int64_t channels = min64(w->channels, (depth + taps_of(w) - 2) / taps_of(w) + 1);
    const int64_t sizes[] = {channels, span(&w->down, rows_at_most(w, count)), frame_width(w), 2};
    return array_fits(sizeof(float), 4, sizes) ? sizes[0] * sizes[1] * sizes[2] + WIDEST_VECTOR : -1;
}

/* One row of a plane to where it lies in a row of a frame that is 0. */
static void place_row(const struct axis* a, const float* plane_row, int64_t width, float* row) {
    const int64_t first = max64(0, ceil_div(-a->before, a->spread)), left = min64(width, max64(0, a->before + first * a->spread));
    const int64_t inside = min64(a->length - first, width - left);
    if (a->spread > 1) {
        for (int64_t x = first, t = left; x < a->length && t < width; x++, t += a->spread) row[t] = plane_row[x];
    } else if (inside > 0) {
        memcpy(row + left, plane_row + first, (size_t)inside * sizeof(float));
    }
}

static void fill_frame(const struct windows* w, const float* planes, int64_t channels, int64_t first_row, int64_t rows, int64_t width,
                       float* frame) {
    const int64_t plane = w->down.length * w->across.length;
    memset(frame, 0, (size_t)(channels * rows * width) * sizeof(float));
    for (int64_t c = 0; c < channels; c++)
        for (int64_t r = 0; r < rows; r++) {
            const int64_t place = first_row + r - w->down.before, row = place / w->down.spread;
            if (place >= 0 && place % w->down.spread == 0 && row < w->down.length)
                place_row(&w->across, planes + c * plane + row * w->across.length, width, frame + (c * rows + r) * width);
        }
}

/* A frame that is filled, where each tap of a part begins in it, and the row of outputs that it begins with. */
struct view {
    const struct windows* windows;
    const float* frame;
    int64_t width, first_row, size;
    int64_t taps[TAPS];
};

static void look(const struct windows* w, const float* planes, struct part part, float* frame, struct view* view) {
    const int64_t kernel = taps_of(w), across = w->across.kernel, channel = part.first / kernel;
    const int64_t channels = (part.first + part.depth - 1) / kernel + 1 - channel;
    const int64_t first = part.output / w->across.outputs, last = (part.output + part.count - 1) / w->across.outputs;
    const int64_t rows = span(&w->down, last - first + 1), width = frame_width(w);
    fill_frame(w, planes + channel * w->down.length * w->across.length, channels, first * w->down.stride, rows, width, frame);
    *view = (struct view){.windows = w, .frame = frame, .width = width, .first_row = first, .size = channels * rows * width};
    for (int64_t k = 0; k < part.depth; k++) {
        const int64_t tap = (part.first + k) % kernel, c = (part.first + k) / kernel - channel;
        view->taps[k] = (c * rows + tap / across * w->down.dilation) * width + tap % across * w->across.dilation;
    }
}

void frame_windows(const struct windows* w, const float* planes, struct part part, int64_t beyond, float* frame, int64_t* places) {
    struct view view;
    look(w, planes, part, frame, &view);
    memset(frame + view.size, 0, (size_t)beyond * sizeof(float));
    memcpy(places, view.taps, (size_t)part.depth * sizeof *places);
}

/* The outputs from `output` on as runs along rows; returns how many runs there are. */
static int find_runs(const struct view* view, int64_t output, int64_t count, struct run* runs) {
    const struct axis *const down = &view->windows->down, *const across = &view->windows->across;
    int found = 0;
    for (int64_t at = 0; at < count; found++) {
        const int64_t y = (output + at) / across->outputs, x = (output + at) % across->outputs;
        const int64_t length = min64(across->outputs - x, count - at);
        runs[found] = (struct run){(y - view->first_row) * down->stride * view->width + x * across->stride, (int32_t)at, (int32_t)length};
        at += length;
    }
    return found;
}

void pack_windows(const struct simd* v, const struct windows* w, const float* planes, struct part part, float* frame, float* packed) {
    struct view view;
    struct run runs[RUNS];
    look(w, planes, part, frame, &view);
    for (int64_t at = 0; at < part.count; at += v->panel, packed += part.depth * v->panel) {
        const int64_t columns = min64(v->panel, part.count - at);
        const int count = find_runs(&view, part.output + at, columns, runs);
        v->copy_runs(frame, view.taps, part.depth, runs, count, w->across.stride, packed, v->panel);
        for (int64_t k = 0; k < part.depth && columns < v->panel; k++)
            memset(packed + k * v->panel + columns, 0, (size_t)(v->panel - columns) * sizeof(float));
    }
}

void lay_out_windows(const struct simd* v, const struct windows* w, const float* planes, struct part part, float* frame,
                     int64_t row_length, float* rows) {
    struct view view;
    struct run runs[RUNS];
    look(w, planes, part, frame, &view);
    const int count = find_runs(&view, part.output, part.count, runs);
    v->copy_runs(frame, view.taps, part.depth, runs, count, w->across.stride, rows, row_length);
}
