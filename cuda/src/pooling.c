/* The largest number and the mean of each window on a plane, and their gradients.  Planes are shared among threads. */
#include "pooling.h"
#include "parallel.h"
#include "scratch.h"
#include "simd.h"
#include "vector/pooling.h"

#include <stdatomic.h>
#include <string.h>

/* Runs a statement for every plane, with `memory`, floats of the thread's own. */
#define FOR_PLANES(plane, memory, floats, elements, ...)                                                                   \
    const int64_t planes_ = (int64_t)batch * channels, each_ = round_up(floats, 16);                                       \
    const struct scratch scratch_ = scratch_take(each_ * thread_count(), sizeof(float));                                   \
    if (!scratch_.memory) return ASSAYER_NO_MEMORY;                                                                        \
    PARALLEL_FOR(planes_ * (elements) >= SERIAL_BELOW)                                                                     \
    for (int64_t plane = 0; plane < planes_; plane++) {                                                                    \
        float* const memory = (float*)scratch_.memory + each_ * thread_index();                                            \
        __VA_ARGS__;                                                                                                       \
    }                                                                                                                      \
    scratch_give(scratch_);                                                                                                \
    return ASSAYER_OK

int32_t cuda_max_pool2d(const float* input, float* output, int32_t* places, int batch, int channels, int height, int width,
                        int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, void* stream) {
    (void)stream;
    CHECK_POOLING(pool, 0);
    const int64_t size = (int64_t)height * width, out = pool.rows.windows * pool.columns.windows;
    CHECK_ARRAY(input, batch, channels, height, width);
    CHECK_ARRAY(output, batch, channels, out);
    CHECK_ARRAY(places, batch, channels, out);
    CHECK(places_fit(height, width));
    const struct simd* const v = simd();
    FOR_PLANES(plane, memory, max_pool_memory(&pool), size,
               v->max_pool(&pool, input + plane * size, memory, output + plane * out, places + plane * out));
}

/* True where every place lies in its plane. */
static bool places_lie_within(const int32_t* places, int64_t n, int64_t size) {
    atomic_bool outside = false;
    FOR_CHUNKS(n, at, length, if (!all_within(places + at, length, 0, size)) atomic_store(&outside, true))
    return !outside;
}

/* Adds dy at its places to two planes by turns: where neighbours name one place, each sum waits for the one before it, and
 * the other plane has something to do meanwhile. */
static void add_to_two(const float* dy, const int32_t* places, int64_t out, float* dx, int64_t size) {
    for (int64_t i = 0; i < out; i++) {
        dx[places[i]] += dy[i];
        dx[size + places[out + i]] += dy[out + i];
    }
}

static void add_to_one(const float* dy, const int32_t* places, int64_t out, float* dx) {
    for (int64_t i = 0; i < out; i++) dx[places[i]] += dy[i];
}

int32_t cuda_max_pool2d_backward(const float* d_output, const int32_t* places, float* d_input, int batch, int channels, int height,
                                 int width, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w,
                                 void* stream) {
    (void)stream;
    CHECK_POOLING(pool, 0);
    const int64_t size = (int64_t)height * width, out = pool.rows.windows * pool.columns.windows;
    CHECK_ARRAY(d_output, batch, channels, out);
    CHECK_ARRAY(places, batch, channels, out);
    CHECK_ARRAY(d_input, batch, channels, height, width);
    const int64_t planes = (int64_t)batch * channels;
    CHECK(places_fit(height, width) && places_lie_within(places, planes * out, size));
    PARALLEL_FOR(planes * size >= SERIAL_BELOW)
    for (int64_t plane = 0; plane < planes; plane += 2) {
        const int64_t several = min64(2, planes - plane);
        float* const dx = d_input + plane * size;
        memset(dx, 0, (size_t)(several * size) * sizeof(float));
        if (several == 2) add_to_two(d_output + plane * out, places + plane * out, out, dx, size);
        else add_to_one(d_output + plane * out, places + plane * out, out, dx);
    }
    return ASSAYER_OK;
}

int32_t cuda_avg_pool2d(const float* input, float* output, int batch, int channels, int height, int width, int kernel_h,
                        int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, int count_include_pad, void* stream) {
    (void)stream;
    CHECK_POOLING(pool, count_include_pad);
    const int64_t size = (int64_t)height * width, out = pool.rows.windows * pool.columns.windows;
    CHECK_ARRAY(input, batch, channels, height, width);
    CHECK_ARRAY(output, batch, channels, out);
    CHECK(count_include_pad == 0 || count_include_pad == 1);
    const struct simd* const v = simd();
    FOR_PLANES(plane, memory, (int64_t)(height + 1) * pool.columns.windows, size,
               v->avg_pool(&pool, input + plane * size, memory, output + plane * out));
}

int32_t cuda_avg_pool2d_backward(const float* d_output, float* d_input, int batch, int channels, int height, int width,
                                 int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w,
                                 int count_include_pad, void* stream) {
    (void)stream;
    CHECK_POOLING(pool, count_include_pad);
    const int64_t size = (int64_t)height * width, out = pool.rows.windows * pool.columns.windows;
    CHECK_ARRAY(d_output, batch, channels, out);
    CHECK_ARRAY(d_input, batch, channels, height, width);
    CHECK(count_include_pad == 0 || count_include_pad == 1);
    const struct simd* const v = simd();
    FOR_PLANES(plane, memory, (pool.rows.windows + height + 1) * pool.columns.windows + width, size,
               v->avg_pool_backward(&pool, d_output + plane * out, memory, d_input + plane * size));
}
