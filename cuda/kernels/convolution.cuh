/* Factors of a product whose elements are looked up one by one: what the taps of a kernel meet, without a matrix of it.
 */
#ifndef ASSAYER_CONVOLUTION_CUH
#define ASSAYER_CONVOLUTION_CUH

#include "../src/convolution_sizes.h"
#include "launch.cuh"
#include "tile.cuh"

/* A factor for multiply_tile.  Lookup tells the place of a line and that of a depth, which a thread keeps, and the
 * element where they meet. */
template <typename Lookup> struct Gathered {
    Lookup lookup;
    int64_t lines;
    int depth;
};

/* Every quad of a thread is of the same four lines. */
template <int LINES, int THREADS, typename Lookup> struct Carrier<LINES, THREADS, Gathered<Lookup>> {
    static constexpr int COUNT = LINES * DEPTH / 4 / THREADS, ACROSS = LINES / 4, FURTHER = THREADS / ACROSS;
    static_assert(COUNT >= 1 && THREADS % ACROSS == 0, "whole quads for every thread");

    Lookup lookup;
    typename Lookup::Line lines[4];
    bool inside[4];
    int k, depth;
    Quad quads[COUNT];

    static __device__ int inner() { return static_cast<int>(threadIdx.x) % ACROSS * 4; }
    static __device__ int outer() { return static_cast<int>(threadIdx.x) / ACROSS; }

    __device__ Carrier(const Gathered<Lookup>& factor, int64_t first)
        : lookup(factor.lookup), k(outer()), depth(factor.depth) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            inside[i] = first + inner() + i < factor.lines;
            lines[i] = lookup.line(inside[i] ? first + inner() + i : 0);
        }
    }

    __device__ void load() {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const int at = k + i * FURTHER;
            const bool is_deep = at < depth;
            const typename Lookup::Depth place = lookup.depth(is_deep ? at : 0);
#pragma unroll
            for (int j = 0; j < 4; j++) quads[i].at[j] = is_deep && inside[j] ? lookup.at(lines[j], place) : 0.0f;
        }
        k += DEPTH;
    }

    __device__ void store(Panel<LINES>& panel) const {
#pragma unroll
        for (int i = 0; i < COUNT; i++) store_shared_quad(&panel[outer() + i * FURTHER][inner()], quads[i]);
    }
};

/* A call's sizes for its kernels, whose places are int. */
struct Planes {
    int height, width, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, out_h, out_w;
    int in_channels, out_channels, in_group, out_group; /* of all groups, and of one */

    __host__ __device__ int64_t in_plane() const { return int64_t{height} * width; }
    __host__ __device__ int64_t out_plane() const { return int64_t{out_h} * out_w; }
    __host__ __device__ int taps() const { return kernel_h * kernel_w; }
};

/* An output, by the place that its first tap meets, and a tap, by how far from there it meets one. */
struct Window {
    int64_t sample;
    int row, column;
};
struct Tap {
    int64_t channel;
    int row, column;
};

/* `channels`: of one group, in every sample's first planes; `first`: the output that is number 0. */
struct InputPlanes {
    const float* data;
    Planes p;
    int64_t first;

    __device__ Window window(int64_t output) const {
        const int64_t number = first + output, sample = number / p.out_plane();
        const int place = static_cast<int>(number % p.out_plane());
        return {sample * p.in_channels * p.in_plane(), place / p.out_w * p.stride_h - p.pad_h,
                place % p.out_w * p.stride_w - p.pad_w};
    }
    __device__ Tap tap(int number) const {
        const int place = number % p.taps();
        return {number / p.taps() * p.in_plane(), place / p.kernel_w * p.dilation_h, place % p.kernel_w * p.dilation_w};
    }
    __device__ float at(const Window& window, const Tap& tap) const {
        const int row = window.row + tap.row, column = window.column + tap.column;
        if (row < 0 || row >= p.height || column < 0 || column >= p.width) return 0.0f;
        return data[window.sample + tap.channel + int64_t{row} * p.width + column];
    }
};

/* Outputs for lines, taps for depth: what conv2d multiplies weights by. */
struct WindowsByOutput : InputPlanes {
    using Line = Window;
    using Depth = Tap;
    __device__ Line line(int64_t output) const { return window(output); }
    __device__ Depth depth(int number) const { return tap(number); }
};

/* Taps for lines, outputs for depth: what its gradient of weights multiplies d_output by. */
struct WindowsByTap : InputPlanes {
    using Line = Tap;
    using Depth = Window;
    __device__ Line line(int64_t number) const { return tap(static_cast<int>(number)); }
    __device__ Depth depth(int output) const { return window(output); }
    __device__ float at(const Tap& tap, const Window& window) const { return InputPlanes::at(window, tap); }
};

/* Places of the input for lines, taps of a group's filters for depth: the element of d_output that a place hands on by
 * a tap, where there is one. */
struct OutputsByPlace {
    const float* data;
    Planes p;

    using Line = Window;
    using Depth = Tap;
    __device__ Line line(int64_t number) const {
        const int64_t sample = number / p.in_plane();
        const int place = static_cast<int>(number % p.in_plane());
        return {sample * p.out_channels * p.out_plane(), place / p.width + p.pad_h, place % p.width + p.pad_w};
    }
    __device__ Depth depth(int number) const {
        const int place = number % p.taps();
        return {number / p.taps() * p.out_plane(), place / p.kernel_w * p.dilation_h,
                place % p.kernel_w * p.dilation_w};
    }
    __device__ float at(const Line& window, const Depth& tap) const {
        const int row = window.row - tap.row, column = window.column - tap.column;
        if (row < 0 || column < 0 || row % p.stride_h != 0 || column % p.stride_w != 0) return 0.0f;
        const int y = row / p.stride_h, x = column / p.stride_w;
        return y < p.out_h && x < p.out_w ? data[window.sample + tap.channel + int64_t{y} * p.out_w + x] : 0.0f;
    }
};

/* Input channels of a group for lines, taps of its filters for depth. */
struct WeightsByChannel {
    const float* data;
    int taps, in_group;

    using Line = int64_t;
    using Depth = int64_t;
    __device__ Line line(int64_t channel) const { return channel * taps; }
    __device__ Depth depth(int number) const { return int64_t{number / taps} * in_group * taps + number % taps; }
    __device__ float at(Line channel, Depth tap) const { return data[channel + tap]; }
};

/* Filters of a group for lines, outputs from `first` on for depth. */
struct OutputsByFilter {
    const float* data;
    int64_t out_plane, first;
    int out_channels;

    using Line = int64_t;
    using Depth = int64_t;
    __device__ Line line(int64_t filter) const { return filter * out_plane; }
    __device__ Depth depth(int output) const {
        const int64_t number = first + output;
        return number / out_plane * out_channels * out_plane + number % out_plane;
    }
    __device__ float at(Line filter, Depth output) const { return data[filter + output]; }
};

#endif
