/* Dropout: a thread draws a block of four words and treats the four elements that they belong to. */
#include "launch.cuh"
#include "vector.cuh"

namespace {

constexpr int THREADS = 256, ROUNDS = 10;

struct Words {
    uint32_t at[4];
};

/* Philox4x32-10 (assayer.h: dropout). */
__device__ Words philox(uint64_t key, uint64_t counter) {
    uint32_t a = static_cast<uint32_t>(counter), b = static_cast<uint32_t>(counter >> 32), c = 0, d = 0;
    uint32_t low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t of_a = uint64_t{a} * 0xD2511F53u, of_c = uint64_t{c} * 0xCD9E8D57u;
        a = static_cast<uint32_t>(of_c >> 32) ^ b ^ low;
        b = static_cast<uint32_t>(of_c);
        c = static_cast<uint32_t>(of_a >> 32) ^ d ^ high;
        d = static_cast<uint32_t>(of_a);
        low += 0x9E3779B9u;
        high += 0xBB67AE85u;
    }
    return {{a, b, c, d}};
}

struct Mask {
    float rate, scale;
    __device__ float operator()(float x, uint32_t word) const {
        return static_cast<float>(word >> 8) * 0x1p-24f >= rate ? x * scale : 0.0f;
    }
};

/* QUADS: both arrays begin at a multiple of 16 bytes. */
template <bool QUADS>
__global__ void __launch_bounds__(THREADS)
    dropout_kernel(const float* x, const uint64_t* drawn_by, float* y, int64_t n, Mask mask) {
    const uint64_t key = drawn_by[0], offset = drawn_by[1];
    const int64_t step = gridDim.x * int64_t{THREADS};
    for (int64_t block = blockIdx.x * int64_t{THREADS} + threadIdx.x; 4 * block < n; block += step) {
        const Words words = philox(key, offset + static_cast<uint64_t>(block));
        const int64_t at = 4 * block;
        if (QUADS && at + 4 <= n) {
            Quad quad = load_quad(x + at);
#pragma unroll
            for (int i = 0; i < 4; i++) quad.at[i] = mask(quad.at[i], words.at[i]);
            store_quad(y + at, quad);
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (at + i < n) y[at + i] = mask(x[at + i], words.at[i]);
        }
    }
}

int32_t apply(const float* x, const uint64_t* drawn_by, float* y, int64_t n, float rate, void* stream) {
    const Mask mask{rate, static_cast<float>(1.0 / (1.0 - static_cast<double>(rate)))};
    const unsigned blocks = blocks_for(ceil_div(n, 4), THREADS);
    if (phase_of(x) == 0 && phase_of(y) == 0)
        dropout_kernel<true><<<blocks, THREADS, 0, stream_of(stream)>>>(x, drawn_by, y, n, mask);
    else dropout_kernel<false><<<blocks, THREADS, 0, stream_of(stream)>>>(x, drawn_by, y, n, mask);
    return launched();
}

} // namespace

int32_t cuda_dropout(const float* input, const uint64_t* philox, float* output, int64_t n, float rate, void* stream) {
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(philox, 2);
    CHECK_ARRAY(output, n);
    CHECK(rate >= 0 && rate < 1);
    return apply(input, philox, output, n, rate, stream);
}

int32_t cuda_dropout_backward(const float* d_output, const uint64_t* philox, float* d_input, int64_t n, float rate,
                              void* stream) {
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(philox, 2);
    CHECK_ARRAY(d_input, n);
    CHECK(rate >= 0 && rate < 1);
    return apply(d_output, philox, d_input, n, rate, stream);
}
