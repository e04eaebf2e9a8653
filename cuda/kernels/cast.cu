/* Arrays from 16 bits to float32 and back, each number rounded to nearest even. */
#include "cast.cuh"

#include "launch.cuh"
#include "vector.cuh"

namespace {

constexpr int THREADS = 256;

struct alignas(8) HalfQuad {
    half_bits at[4];
};

template <typename Format>
__global__ void __launch_bounds__(THREADS)
    widen_kernel(const half_bits* input, float* output, int64_t n, int64_t quads) {
    const int64_t thread = blockIdx.x * int64_t{THREADS} + threadIdx.x, threads = gridDim.x * int64_t{THREADS};
    for (int64_t q = thread; q < quads; q += threads) {
        const HalfQuad in = *reinterpret_cast<const HalfQuad*>(input + 4 * q);
        store_quad(output + 4 * q, {{Format::widen(in.at[0]), Format::widen(in.at[1]), Format::widen(in.at[2]),
                                     Format::widen(in.at[3])}});
    }
    for (int64_t i = 4 * quads + thread; i < n; i += threads) output[i] = Format::widen(input[i]);
}

template <typename Format>
__global__ void __launch_bounds__(THREADS)
    narrow_kernel(const float* input, half_bits* output, int64_t n, int64_t quads) {
    const int64_t thread = blockIdx.x * int64_t{THREADS} + threadIdx.x, threads = gridDim.x * int64_t{THREADS};
    for (int64_t q = thread; q < quads; q += threads) {
        const Quad in = load_quad(input + 4 * q);
        *reinterpret_cast<HalfQuad*>(output + 4 * q) = {
            {Format::narrow(in.at[0]), Format::narrow(in.at[1]), Format::narrow(in.at[2]), Format::narrow(in.at[3])}};
    }
    for (int64_t i = 4 * quads + thread; i < n; i += threads) output[i] = Format::narrow(input[i]);
}

/* How many quads of n elements can be moved whole. */
int64_t whole_quads(const float* wide, const half_bits* half, int64_t n) {
    const bool aligned = phase_of(wide) == 0 && reinterpret_cast<uintptr_t>(half) % sizeof(HalfQuad) == 0;
    return aligned ? n / 4 : 0;
}

template <typename Format> int32_t widen_all(const half_bits* input, float* output, int64_t n, void* stream) {
    const int64_t quads = whole_quads(output, input, n);
    widen_kernel<Format>
        <<<blocks_for(quads ? quads : n, THREADS), THREADS, 0, stream_of(stream)>>>(input, output, n, quads);
    return launched();
}

template <typename Format> int32_t narrow_all(const float* input, half_bits* output, int64_t n, void* stream) {
    const int64_t quads = whole_quads(input, output, n);
    narrow_kernel<Format>
        <<<blocks_for(quads ? quads : n, THREADS), THREADS, 0, stream_of(stream)>>>(input, output, n, quads);
    return launched();
}

} // namespace

int32_t widen(Bf16, const half_bits* input, float* output, int64_t n, void* stream) {
    return widen_all<Bf16>(input, output, n, stream);
}
int32_t widen(Fp16, const half_bits* input, float* output, int64_t n, void* stream) {
    return widen_all<Fp16>(input, output, n, stream);
}
int32_t narrow(Bf16, const float* input, half_bits* output, int64_t n, void* stream) {
    return narrow_all<Bf16>(input, output, n, stream);
}
int32_t narrow(Fp16, const float* input, half_bits* output, int64_t n, void* stream) {
    return narrow_all<Fp16>(input, output, n, stream);
}
