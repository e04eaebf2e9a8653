/* The norm of gradients, clipping by it, and whether they are numbers at all. */
#include "lists.cuh"
#include "reduce.cuh"
#include "scratch.cuh"

#include <cmath>

namespace {

struct Squares {
    float sum = 0.0f;
    __device__ void operator()(const float (&x)[1], float (&)[1]) { sum += x[0] * x[0]; }
};

struct Nonfinite {
    float sum = 0.0f; /* of a chunk: exact */
    __device__ void operator()(const float (&x)[1], float (&)[1]) { sum += isfinite(x[0]) ? 0.0f : 1.0f; }
};

struct SquaresNonfinite {
    Squares squares;
    Nonfinite nonfinite;
    __device__ void operator()(const float (&x)[1], float (&y)[1]) {
        squares(x, y);
        nonfinite(x, y);
    }
};

struct Scale {
    float factor;
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0] * factor; }
};

/* partials[chunk] = the sum over the chunk of what Sum takes of each element. */
template <typename Sum>
__global__ void __launch_bounds__(LIST_THREADS) chunk_sum_kernel(const Batch<1> batch, float* partials) {
    for (int64_t chunk = blockIdx.x; chunk < batch.chunks(); chunk += gridDim.x) {
        const int i = batch.array_of(chunk);
        Sum each;
        visit_chunk(Arrays<1, 0>{{batch.arrays[0][i]}, {}}, (chunk - batch.starts[i]) * CHUNK, batch.sizes[i], each);
        const float sum = team_sum<LIST_THREADS>(each.sum);
        if (threadIdx.x == 0) partials[chunk] = sum;
    }
}

/* squares[chunk] and nonfinite[chunk]: both sums of the chunk, whose elements are read once. */
__global__ void __launch_bounds__(LIST_THREADS)
    chunk_squares_nonfinite_kernel(const Batch<1> batch, float* squares, float* nonfinite) {
    for (int64_t chunk = blockIdx.x; chunk < batch.chunks(); chunk += gridDim.x) {
        const int i = batch.array_of(chunk);
        SquaresNonfinite each;
        visit_chunk(Arrays<1, 0>{{batch.arrays[0][i]}, {}}, (chunk - batch.starts[i]) * CHUNK, batch.sizes[i], each);
        const float sum = team_sum<LIST_THREADS>(each.squares.sum);
        const float count = team_sum<LIST_THREADS>(each.nonfinite.sum);
        if (threadIdx.x != 0) continue;
        squares[chunk] = sum;
        nonfinite[chunk] = count;
    }
}

/* The sum of the partials: by one block, in double, each thread in the order of its partials. */
constexpr int TOTAL_THREADS = 1024;

__device__ double total_of(const float* partials, int64_t count) {
    double sum = 0.0;
    for (int64_t i = threadIdx.x; i < count; i += TOTAL_THREADS) sum += partials[i];
    return team_sum<TOTAL_THREADS>(sum);
}

/* That sum, or its root. */
__global__ void __launch_bounds__(TOTAL_THREADS)
    total_kernel(const float* partials, int64_t count, float* total, bool root) {
    const double sum = total_of(partials, count);
    if (threadIdx.x == 0) total[0] = static_cast<float>(root ? sqrt(sum) : sum);
}

__device__ int32_t counted(double sum) { return sum < INT32_MAX ? static_cast<int32_t>(sum) : INT32_MAX; }

__global__ void __launch_bounds__(TOTAL_THREADS)
    total_count_kernel(const float* partials, int64_t count, int32_t* total) {
    const double sum = total_of(partials, count);
    if (threadIdx.x == 0) total[0] = counted(sum);
}

__global__ void __launch_bounds__(TOTAL_THREADS)
    total_squares_nonfinite_kernel(const float* squares, const float* nonfinite, int64_t count, float* sum_squares,
                                   int32_t* total) {
    const double sum = total_of(squares, count), found = total_of(nonfinite, count);
    if (threadIdx.x != 0) return;
    sum_squares[0] = static_cast<float>(sum);
    total[0] = counted(found);
}

__device__ float clip_factor(float norm, float clip_norm) { return norm > clip_norm ? clip_norm / norm : 1.0f; }

/* Nothing is touched where the norm is small enough. */
__global__ void __launch_bounds__(LIST_THREADS)
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

__global__ void __launch_bounds__(LIST_THREADS) multi_scale_kernel(const Batch<1> batch, const float* scale) {
    Scale by{scale[0]};
    for (int64_t chunk = blockIdx.x; chunk < batch.chunks(); chunk += gridDim.x) {
        const int i = batch.array_of(chunk);
        float* const array = batch.arrays[0][i];
        visit_chunk(Arrays<1, 1>{{array}, {array}}, (chunk - batch.starts[i]) * CHUNK, batch.sizes[i], by);
    }
}

int64_t chunks_of(const int64_t* sizes, int count) {
    int64_t chunks = 0;
    for (int i = 0; i < count; i++) chunks += ceil_div(sizes[i], CHUNK);
    return chunks;
}

/* partials: one to a chunk of any array. */
template <typename Sum>
int32_t sum_chunks(float* const* arrays, const int64_t* sizes, int count, float* partials, void* stream) {
    float* const* const lists[] = {arrays};
    return for_batches(lists, sizes, nullptr, count, [=](const Batch<1>& batch, int64_t before) {
        chunk_sum_kernel<Sum><<<blocks_of(batch), LIST_THREADS, 0, stream_of(stream)>>>(batch, partials + before);
        return launched();
    });
}

/* total = the sum over every array of its squares, or its root. */
int32_t sum_squares(float* const* arrays, const int64_t* sizes, int count, float* partials, float* total, bool root,
                    void* stream) {
    TRY(sum_chunks<Squares>(arrays, sizes, count, partials, stream));
    const int64_t chunks = chunks_of(sizes, count);
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
    clip_kernel<<<blocks_for(size, CHUNK), LIST_THREADS, 0, stream_of(stream)>>>(grad, size, total_norm, clip_norm);
    return launched();
}

int32_t cuda_multi_sum_squares(const float* const* inputs, const int64_t* sizes, float* sum_squares_out, int count,
                               void* stream) {
    CHECK_ARRAY(inputs, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(sum_squares_out, 1);
    CHECK(buffers_fit(inputs, sizes, count));
    const Scratch scratch(chunks_of(sizes, count) * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    float* const* const arrays = const_cast<float* const*>(inputs); /* only read */
    return sum_squares(arrays, sizes, count, scratch.as<float>(), sum_squares_out, false, stream);
}

int32_t cuda_multi_nonfinite(const float* const* inputs, const int64_t* sizes, int32_t* nonfinite, int count,
                             void* stream) {
    CHECK_ARRAY(inputs, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(nonfinite, 1);
    CHECK(buffers_fit(inputs, sizes, count));
    const int64_t chunks = chunks_of(sizes, count);
    const Scratch scratch(chunks * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    float* const* const arrays = const_cast<float* const*>(inputs); /* only read */
    TRY(sum_chunks<Nonfinite>(arrays, sizes, count, scratch.as<float>(), stream));
    total_count_kernel<<<1, TOTAL_THREADS, 0, stream_of(stream)>>>(scratch.as<float>(), chunks, nonfinite);
    return launched();
}

int32_t cuda_multi_sum_squares_nonfinite(const float* const* inputs, const int64_t* sizes, float* sum_squares_out,
                                         int32_t* nonfinite, int count, void* stream) {
    CHECK_ARRAY(inputs, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(sum_squares_out, 1);
    CHECK_ARRAY(nonfinite, 1);
    CHECK(buffers_fit(inputs, sizes, count));
    const int64_t chunks = chunks_of(sizes, count);
    const Scratch scratch(2 * chunks * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    float *const squares = scratch.as<float>(), *const counts = squares + chunks;
    float* const* const lists[] = {const_cast<float* const*>(inputs)}; /* only read */
    TRY(for_batches(lists, sizes, nullptr, count, [=](const Batch<1>& batch, int64_t before) {
        chunk_squares_nonfinite_kernel<<<blocks_of(batch), LIST_THREADS, 0, stream_of(stream)>>>(
            batch, squares + before, counts + before);
        return launched();
    }));
    total_squares_nonfinite_kernel<<<1, TOTAL_THREADS, 0, stream_of(stream)>>>(squares, counts, chunks, sum_squares_out,
                                                                               nonfinite);
    return launched();
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
        multi_scale_kernel<<<blocks_of(batch), LIST_THREADS, 0, stream_of(stream)>>>(batch, scale);
        return launched();
    });
}
