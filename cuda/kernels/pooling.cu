/* The largest number and the mean of each window on a plane, and their gradients: a thread for each number of the
 * result, so that none is added to by two. */
#include "functions.cuh"
#include "launch.cuh"
#include "../src/pooling.h"

namespace {

constexpr int THREADS = 256;

/* Where all indices fit, they have 32 bits: then they are divided several times faster. */
template <typename Index> struct Side {
    Index size, windows, kernel, stride, pad;
};
template <typename Index> struct Windows {
    Side<Index> rows, columns;
    bool count_include_pad;
};
template <typename Index> struct Span {
    Index first, end;
};

template <typename Index> __device__ Index lesser(Index a, Index b) { return a < b ? a : b; }

/* The part of a window that is no padding. */
template <typename Index> __device__ Span<Index> covered(const Side<Index>& s, Index window) {
    const Index start = window * s.stride - s.pad;
    return {start > 0 ? start : 0, lesser(start + s.kernel, s.size)};
}

/* The windows that cover an index. */
template <typename Index> __device__ Span<Index> covering(const Side<Index>& s, Index at) {
    const Index reach = at + s.pad;
    return {reach < s.kernel ? 0 : (reach - s.kernel) / s.stride + 1, lesser(reach / s.stride + 1, s.windows)};
}

/* Element i of planes that are `rows` x `columns`. */
template <typename Index> struct Place {
    Index plane, row, column;

    __device__ Place(int64_t i, Index rows, Index columns) {
        const Index line = static_cast<Index>(i) / columns;
        plane = line / rows;
        row = line - plane * rows;
        column = static_cast<Index>(i) - line * columns;
    }
};

__device__ int64_t first_of_thread() { return blockIdx.x * int64_t{THREADS} + threadIdx.x; }
__device__ int64_t threads_of_grid() { return gridDim.x * int64_t{THREADS}; }

/* A NaN is larger than every number, and of equal ones the one that was there first stays. */
template <typename Index>
__global__ void __launch_bounds__(THREADS)
    max_kernel(const float* input, float* output, int32_t* places, Windows<Index> p, int64_t n) {
    for (int64_t i = first_of_thread(); i < n; i += threads_of_grid()) {
        const Place<Index> at(i, p.rows.windows, p.columns.windows);
        const Span<Index> rows = covered(p.rows, at.row), columns = covered(p.columns, at.column);
        const float* const plane = input + at.plane * p.rows.size * p.columns.size;
        Index place = rows.first * p.columns.size + columns.first;
        float largest = -INFINITY;
        for (Index h = rows.first; h < rows.end; h++) {
            for (Index w = columns.first; w < columns.end; w++) {
                const float x = plane[h * p.columns.size + w];
                if (x <= largest || isnan(largest)) continue;
                largest = x;
                place = h * p.columns.size + w;
            }
        }
        output[i] = largest;
        places[i] = static_cast<int32_t>(place);
    }
}

/* Adds up what f gives for each window that covers a place; window: its number in all planes. */
template <typename Index, typename Function>
__device__ float sum_over_windows(const Windows<Index>& p, const Place<Index>& at, const Function& f) {
    const Span<Index> rows = covering(p.rows, at.row), columns = covering(p.columns, at.column);
    const Index first = at.plane * p.rows.windows * p.columns.windows;
    float sum = 0;
    for (Index r = rows.first; r < rows.end; r++)
        for (Index c = columns.first; c < columns.end; c++) sum += f(first + r * p.columns.windows + c, r, c);
    return sum;
}

/* A place that lies in no plane makes no number of all that its window covers. */
template <typename Index>
__global__ void __launch_bounds__(THREADS)
    max_backward_kernel(const float* d_output, const int32_t* places, float* d_input, Windows<Index> p, int64_t n) {
    const Index size = p.rows.size * p.columns.size;
    for (int64_t i = first_of_thread(); i < n; i += threads_of_grid()) {
        const Place<Index> at(i, p.rows.size, p.columns.size);
        const Index own = at.row * p.columns.size + at.column;
        d_input[i] = sum_over_windows(p, at, [=](Index window, Index, Index) {
            const Index place = places[window];
            if (place < 0 || place >= size) return not_a_number();
            return place == own ? d_output[window] : 0.0f;
        });
    }
}

template <typename Index> __device__ float divisor(const Windows<Index>& p, Index row, Index column) {
    if (p.count_include_pad) return static_cast<float>(p.rows.kernel * p.columns.kernel);
    const Span<Index> rows = covered(p.rows, row), columns = covered(p.columns, column);
    return static_cast<float>((rows.end - rows.first) * (columns.end - columns.first));
}

template <typename Index>
__global__ void __launch_bounds__(THREADS) avg_kernel(const float* input, float* output, Windows<Index> p, int64_t n) {
    for (int64_t i = first_of_thread(); i < n; i += threads_of_grid()) {
        const Place<Index> at(i, p.rows.windows, p.columns.windows);
        const Span<Index> rows = covered(p.rows, at.row), columns = covered(p.columns, at.column);
        const float* const plane = input + at.plane * p.rows.size * p.columns.size;
        float sum = 0;
        for (Index h = rows.first; h < rows.end; h++)
            for (Index w = columns.first; w < columns.end; w++) sum += plane[h * p.columns.size + w];
        output[i] = sum / divisor(p, at.row, at.column);
    }
}

template <typename Index>
__global__ void __launch_bounds__(THREADS)
    avg_backward_kernel(const float* d_output, float* d_input, Windows<Index> p, int64_t n) {
    for (int64_t i = first_of_thread(); i < n; i += threads_of_grid()) {
        const Place<Index> at(i, p.rows.size, p.columns.size);
        d_input[i] = sum_over_windows(
            p, at, [&](Index window, Index row, Index column) { return d_output[window] / divisor(p, row, column); });
    }
}

template <typename Index> Side<Index> narrowed(const side& s) {
    return {static_cast<Index>(s.size), static_cast<Index>(s.windows), static_cast<Index>(s.kernel),
            static_cast<Index>(s.stride), static_cast<Index>(s.pad)};
}

template <typename Index, typename Launch> int32_t launch_with(const pool& p, int64_t n, const Launch& launch) {
    const Windows<Index> windows = {narrowed<Index>(p.rows), narrowed<Index>(p.columns), p.count_include_pad == 1};
    launch(windows, blocks_for(n, THREADS));
    return launched();
}

/* launch(windows, blocks) for n threads; 32 bits hold every index of both arrays, padding counted in, or 64. */
template <typename Launch> int32_t with_index(const pool& p, int64_t planes, int64_t n, const Launch& launch) {
    const int64_t across = p.columns.size + 2 * p.columns.pad, down = p.rows.size + 2 * p.rows.pad;
    const bool is_small = sizes_fit(size_t{1} << 32, planes, down, across);
    return is_small ? launch_with<int32_t>(p, n, launch) : launch_with<int64_t>(p, n, launch);
}

} // namespace

int32_t cuda_max_pool2d(const float* input, float* output, int32_t* places, int batch, int channels, int height,
                        int width, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w,
                        void* stream) {
    CHECK_POOLING(p, 0);
    CHECK_ARRAY(input, batch, channels, height, width);
    CHECK_ARRAY(output, batch, channels, p.rows.windows, p.columns.windows);
    CHECK_ARRAY(places, batch, channels, p.rows.windows, p.columns.windows);
    CHECK(places_fit(height, width));
    const int64_t planes = int64_t{batch} * channels, n = planes * p.rows.windows * p.columns.windows;
    return with_index(p, planes, n, [=](auto windows, unsigned blocks) {
        max_kernel<<<blocks, THREADS, 0, stream_of(stream)>>>(input, output, places, windows, n);
    });
}

int32_t cuda_max_pool2d_backward(const float* d_output, const int32_t* places, float* d_input, int batch, int channels,
                                 int height, int width, int kernel_h, int kernel_w, int stride_h, int stride_w,
                                 int pad_h, int pad_w, void* stream) {
    CHECK_POOLING(p, 0);
    CHECK_ARRAY(d_output, batch, channels, p.rows.windows, p.columns.windows);
    CHECK_ARRAY(places, batch, channels, p.rows.windows, p.columns.windows);
    CHECK_ARRAY(d_input, batch, channels, height, width);
    CHECK(places_fit(height, width));
    const int64_t planes = int64_t{batch} * channels, n = planes * height * width;
    return with_index(p, planes, n, [=](auto windows, unsigned blocks) {
        max_backward_kernel<<<blocks, THREADS, 0, stream_of(stream)>>>(d_output, places, d_input, windows, n);
    });
}

int32_t cuda_avg_pool2d(const float* input, float* output, int batch, int channels, int height, int width, int kernel_h,
                        int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, int count_include_pad,
                        void* stream) {
    CHECK_POOLING(p, count_include_pad);
    CHECK_ARRAY(input, batch, channels, height, width);
    CHECK_ARRAY(output, batch, channels, p.rows.windows, p.columns.windows);
    CHECK(count_include_pad == 0 || count_include_pad == 1);
    const int64_t planes = int64_t{batch} * channels, n = planes * p.rows.windows * p.columns.windows;
    return with_index(p, planes, n, [=](auto windows, unsigned blocks) {
        avg_kernel<<<blocks, THREADS, 0, stream_of(stream)>>>(input, output, windows, n);
    });
}

int32_t cuda_avg_pool2d_backward(const float* d_output, float* d_input, int batch, int channels, int height, int width,
                                 int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w,
                                 int count_include_pad, void* stream) {
    CHECK_POOLING(p, count_include_pad);
    CHECK_ARRAY(d_output, batch, channels, p.rows.windows, p.columns.windows);
    CHECK_ARRAY(d_input, batch, channels, height, width);
    CHECK(count_include_pad == 0 || count_include_pad == 1);
    const int64_t planes = int64_t{batch} * channels, n = planes * height * width;
    return with_index(p, planes, n, [=](auto windows, unsigned blocks) {
        avg_backward_kernel<<<blocks, THREADS, 0, stream_of(stream)>>>(d_output, d_input, windows, n);
    });
}
