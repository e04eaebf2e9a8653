/* What the taps of a kernel meet as it goes over planes: the columns that a convolution multiplies its weights by.  They are
 * made part by part, from a frame: rows of some channels with the zeros around them. */
#ifndef ASSAYER_WINDOWS_H
#define ASSAYER_WINDOWS_H

#include "simd.h"

#include <stdbool.h>

/* One axis of the planes.  Place t of a frame holds place (t - before) / spread of a plane, where there is one, else 0; tap i
 * of output x meets place x * stride + i * dilation. */
struct axis {
    int64_t length, kernel, stride, dilation, before, spread, outputs;
};

/* Planes of one sample and group, `channels` of them side by side. */
struct windows {
    struct axis down, across;
    int64_t channels;
};

/* A part of the columns: taps first to first + depth (channel by channel, row by row of the kernel) of outputs `output` to
 * output + count. */
struct part {
    int64_t first, depth, output, count;
};

static inline int64_t taps_of(const struct windows* w) { return w->down.kernel * w->across.kernel; }
static inline int64_t depth_of(const struct windows* w) { return w->channels * taps_of(w); }
static inline int64_t outputs_of(const struct windows* w) { return w->down.outputs * w->across.outputs; }

/* How far apart rows lie in a frame. */
static inline int64_t frame_width(const struct windows* w) {
    return (w->across.outputs - 1) * w->across.stride + (w->across.kernel - 1) * w->across.dilation + 1;
}

/* Floats of a frame of any part with at most so many taps and outputs; -1 where int64_t does not count their bytes. */
int64_t frame_size(const struct windows* w, int64_t depth, int64_t count);

/* Where steps are 1, what tap k of a part meets at column x of row y of its outputs lies at places[k] + y * frame_width + x of
 * its frame, and `beyond` zeros past its end may be read; the part begins with a row.  places: `depth` of them. */
void frame_windows(const struct windows* w, const float* planes, struct part part, int64_t beyond, float* frame, int64_t* places);

/* Panels of the part's outputs, each depth x v->panel, as v->multiply takes them; outputs past the last are 0.  A vector
 * beyond the last panel may be written. */
void pack_windows(const struct simd* v, const struct windows* w, const float* planes, struct part part, float* frame, float* packed);

/* A row for each tap, row_length apart, a column for each of at most PANEL_DEPTH outputs.  A vector beyond the last row may
 * be written. */
void lay_out_windows(const struct simd* v, const struct windows* w, const float* planes, struct part part, float* frame,
                     int64_t row_length, float* rows);

#endif
