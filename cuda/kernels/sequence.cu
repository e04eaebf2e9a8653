/* Steps of sequences, cut out and joined.  What belongs to a sample lies in one piece, and is copied as one. */
#include "launch.cuh"
#include "vector.cuh"

namespace {

constexpr int THREADS = 256;

/* Pieces of `length` numbers, one for each sample: from the first of them to the next there are `pitch`. */
struct Pieces {
    int64_t length, from_pitch, to_pitch;
};

template <int WIDTH>
__global__ void __launch_bounds__(THREADS) copy_kernel(const float* from, float* to, Pieces pieces, int64_t n) {
    constexpr int64_t EACH = int64_t{THREADS} * WIDTH;
    for (int64_t i = blockIdx.x * EACH + threadIdx.x * WIDTH; i < n; i += gridDim.x * EACH) {
        const int64_t sample = i / pieces.length, at = i - sample * pieces.length;
        store_pack(to + sample * pieces.to_pitch + at, load_pack<WIDTH>(from + sample * pieces.from_pitch + at));
    }
}

/* The pieces go to `first` in each sample; everywhere else there is 0. */
template <int WIDTH>
__global__ void __launch_bounds__(THREADS)
    spread_kernel(const float* from, float* to, Pieces pieces, int64_t first, int64_t n) {
    constexpr int64_t EACH = int64_t{THREADS} * WIDTH;
    for (int64_t i = blockIdx.x * EACH + threadIdx.x * WIDTH; i < n; i += gridDim.x * EACH) {
        const int64_t sample = i / pieces.to_pitch, at = i - sample * pieces.to_pitch - first;
        const bool is_there = at >= 0 && at < pieces.length;
        store_pack(to + i, is_there ? load_pack<WIDTH>(from + sample * pieces.length + at) : Pack<WIDTH>{});
    }
}

/* Copies the pieces of all samples. */
int32_t copy(const float* from, float* to, int batch, Pieces pieces, int width, void* stream) {
    const bool quads = rows_of_quads(width, from, to);
    const auto kernel = quads ? copy_kernel<4> : copy_kernel<1>;
    const int64_t n = batch * pieces.length;
    kernel<<<blocks_for(quads ? n / 4 : n, THREADS), THREADS, 0, stream_of(stream)>>>(from, to, pieces, n);
    return launched();
}

} // namespace

int32_t cuda_slice_steps(const float* input, float* output, int batch, int steps, int width, int first, int count,
                         void* stream) {
    CHECK_ARRAY(input, batch, steps, width);
    CHECK_ARRAY(output, batch, count, width);
    CHECK(first >= 0 && int64_t{first} + count <= steps);
    const int64_t length = int64_t{count} * width;
    return copy(input + int64_t{first} * width, output, batch, {length, int64_t{steps} * width, length}, width, stream);
}

int32_t cuda_slice_steps_backward(const float* d_output, float* d_input, int batch, int steps, int width, int first,
                                  int count, void* stream) {
    CHECK_ARRAY(d_output, batch, count, width);
    CHECK_ARRAY(d_input, batch, steps, width);
    CHECK(first >= 0 && int64_t{first} + count <= steps);
    const int64_t length = int64_t{count} * width, whole = int64_t{steps} * width, n = batch * whole;
    const Pieces pieces = {length, length, whole};
    const bool quads = rows_of_quads(width, d_output, d_input);
    const auto kernel = quads ? spread_kernel<4> : spread_kernel<1>;
    kernel<<<blocks_for(quads ? n / 4 : n, THREADS), THREADS, 0, stream_of(stream)>>>(d_output, d_input, pieces,
                                                                                      int64_t{first} * width, n);
    return launched();
}

int32_t cuda_concat_steps(const float* a, const float* b, float* output, int batch, int steps_a, int steps_b, int width,
                          void* stream) {
    CHECK_ARRAY(a, batch, steps_a, width);
    CHECK_ARRAY(b, batch, steps_b, width);
    CHECK_ARRAY(output, batch, int64_t{steps_a} + steps_b, width);
    const int64_t of_a = int64_t{steps_a} * width, of_b = int64_t{steps_b} * width;
    TRY(copy(a, output, batch, {of_a, of_a, of_a + of_b}, width, stream));
    return copy(b, output + of_a, batch, {of_b, of_b, of_a + of_b}, width, stream);
}

int32_t cuda_concat_steps_backward(const float* d_output, float* d_a, float* d_b, int batch, int steps_a, int steps_b,
                                   int width, void* stream) {
    CHECK_ARRAY(d_output, batch, int64_t{steps_a} + steps_b, width);
    CHECK_ARRAY(d_a, batch, steps_a, width);
    CHECK_ARRAY(d_b, batch, steps_b, width);
    const int64_t of_a = int64_t{steps_a} * width, of_b = int64_t{steps_b} * width;
    TRY(copy(d_output, d_a, batch, {of_a, of_a + of_b, of_a}, width, stream));
    return copy(d_output + of_a, d_b, batch, {of_b, of_a + of_b, of_b}, width, stream);
}
