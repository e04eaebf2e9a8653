/* The norm of gradients, and clipping by it. */
#include "many.cuh"
#include "reduce.cuh"

#include <cmath>

namespace {

struct Squares {
    float sum = 0.0f;
    __device__ void operator()(const float (&x)[1], float (&)[1]) { sum += x[0] * x[0]; }
};

struct Scale {
    float factor;
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0] * factor; }
};

/* partials[chunk] = the sum of the chunk's squares. */
__global__ void __launch_bounds__(MANY_THREADS) chunk_squares_kernel(const Batch<1> batch, float* partials) {
    for (int64_t chunk = blockIdx.x; chunk < batch.chunks(); chunk += gridDim.x) {
        const int i = batch.array_of(chunk);
        Squares squares;
        visit_chunk(Arrays<1, 0>{{batch.arrays[0][i]}, {}}, (chunk - batch.starts[i]) * CHUNK, batch.sizes[i], squares);
        const float sum = team_sum<MANY_THREADS>(squares.sum);
        if (threadIdx.x == 0) partials[chunk] = sum;
    }
}

/* The sum of the partials, or its root: by one block, in double, each thread in the order of its partials. */
constexpr int TOTAL_THREADS = 1024;

__global__ void __launch_bounds__(TOTAL_THREADS)
    total_kernel(const float* partials, int64_t count, float* total, bool root) {
    double sum = 0.0;
    for (int64_t i = threadIdx.x; i < count; i += TOTAL_THREADS) sum += partials[i];
    sum = team_sum<TOTAL_THREADS>(sum);
    if (threadIdx.x == 0) total[0] = static_cast<float>(root ? sqrt(sum) : sum);
}

__device__ float clip_factor(float norm, float clip_norm) { return norm > clip_norm ? clip_norm / norm : 1.0f; }

/* Nothing is touched where the norm is small enough. */
__global__ void __launch_bounds__(MANY_THREADS)
    clip_kernel(float* grad, int64_t size, const float* total_norm, float clip_norm) {
    const float norm = total_norm[0];
    if (!(norm > clip_norm)) return;
    Scale scale{clip_factor(norm, clip_norm)};
    const Arrays<1, 1> arrays = {{grad}, {grad}};
    for (int64_t at = blockIdx.x * CHUNK; at < size; at += gridDim.x * CHUNK) visit_chunk(arrays, at, size, scale);
}

__global__ void clip_scale_kernel(const float* sum_squares, float* total_norm, float* scale, float clip_norm) {
    const float norm = sqrtf(sum_squares[0]);
    total_norm[0] = norm;
    scale[0] = clip_factor(norm, clip_norm);
}

__global__ void __launch_bounds__(MANY_THREADS) multi_scale_kernel(const Batch<1> batch, const float* scale) {
    Scale by{scale[0]};
    for (int64_t chunk = blockIdx.x; chunk < batch.chunks(); chunk += gridDim.x) {
        const int i = batch.array_of(chunk);
        float* const array = batch.arrays[0][i];
        visit_chunk(Arrays<1, 1>{{array}, {array}}, (chunk - batch.starts[i]) * CHUNK, batch.sizes[i], by);
    }
}

/* total = the sum over every array of its squares, or its root; partials: one to a chunk. */
int32_t sum_squares(float* const* arrays, const int64_t* sizes, int count, float* partials, float* total, bool root,
                    void* stream) {
    float* const* const lists[] = {arrays};
    int64_t chunks = 0;
    for (int i = 0; i < count; i++) chunks += ceil_div(sizes[i], CHUNK);
    TRY(for_batches(lists, sizes, nullptr, count, [=](const Batch<1>& batch, int64_t before) {
        chunk_squares_kernel<<<blocks_of(batch), MANY_THREADS, 0, stream_of(stream)>>>(batch, partials + before);
        return launched();
    }));
    total_kernel<<<1, TOTAL_THREADS, 0, stream_of(stream)>>>(partials, chunks, total, root);
    return launched();
}

} // namespace

int32_t cuda_grad_clip(float* grad, float* partial_norms, float* total_norm, float clip_norm, int64_t size,
                       void* stream) {
    CHECK_ARRAY(grad, size);
    CHECK_ARRAY(partial_norms, ceil_div(size, 256));
    CHECK_ARRAY(total_norm, 1);
    CHECK(clip_norm > 0);
    static_assert(CHUNK >= 256, "the workspace holds a partial sum for every chunk");
    TRY(sum_squares(&grad, &size, 1, partial_norms, total_norm, true, stream));
    clip_kernel<<<blocks_for(size, CHUNK), MANY_THREADS, 0, stream_of(stream)>>>(grad, size, total_norm, clip_norm);
    return launched();
}

int32_t cuda_multi_sum_squares(const float* const* inputs, const int64_t* sizes, float* sum_squares_out, int count,
                               void* stream) {
    CHECK_ARRAY(inputs, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(sum_squares_out, 1);
    CHECK(buffers_fit(inputs, sizes, count));
    int64_t chunks = 0;
    for (int i = 0; i < count; i++) chunks += ceil_div(sizes[i], CHUNK);
    const Scratch scratch(chunks * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    float* const* const arrays = const_cast<float* const*>(inputs); /* only read */
    return sum_squares(arrays, sizes, count, scratch.as<float>(), sum_squares_out, false, stream);
}

int32_t cuda_clip_scale(const float* sum_squares, float* total_norm, float* scale, float clip_norm, void* stream) {
    CHECK_ARRAY(sum_squares, 1);
    CHECK_ARRAY(total_norm, 1);
    CHECK_ARRAY(scale, 1);
    CHECK(clip_norm > 0);
    clip_scale_kernel<<<1, 1, 0, stream_of(stream)>>>(sum_squares, total_norm, scale, clip_norm);
    return launched();
}

int32_t cuda_multi_scale(float* const* arrays, const int64_t* sizes, const float* scale, int count, void* stream) {
    CHECK_ARRAY(arrays, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(scale, 1);
    CHECK(buffers_fit(arrays, sizes, count));
    float* const* const lists[] = {arrays};
    return for_batches(lists, sizes, nullptr, count, [=](const Batch<1>& batch, int64_t) {
        multi_scale_kernel<<<blocks_of(batch), MANY_THREADS, 0, stream_of(stream)>>>(batch, scale);
        return launched();
    });
}
