#include "attention_halves.cuh"

#include "attention_matrix.cuh"

namespace {

template <typename Format, typename Shape> int32_t launch(const HalfForward& f, void* stream) {
    const int64_t blocks = f.tiles<Shape>() * f.s.pairs();
    if (blocks > INT32_MAX) return ASSAYER_UNSUPPORTED; /* past a grid's first axis */
    constexpr int BYTES = Shape::SHARED * int{sizeof(half_bits)};
    const auto kernel = attention_matrix_kernel<Format, Shape>;
    TRY(code_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES)));
    kernel<<<blocks_for(blocks, 1), Shape::THREADS, BYTES, stream_of(stream)>>>(f);
    return launched();
}

template <typename Format> int32_t attend(const HalfForward& f, void* stream) {
    if (f.s.head_dim <= 64) return launch<Format, FlashShape<64, 1, 4, 3>>(f, stream);
    return launch<Format, FlashShape<128, 1, 8, 1>>(f, stream);
}

} // namespace

bool attends_by_units(const AttentionOf<half_bits>& s, const half_bits* output) {
    const int64_t blocks = ceil_div(s.queries(), FlashShape<64, 1, 4, 3>::ROWS) * s.pairs();
    if (s.kv_len > 512 && 4 * blocks < device_attribute(cudaDevAttrMultiProcessorCount)) return false;
    cudaFuncAttributes attributes = {};
    return s.head_dim <= 128 && rows_of_quads(s.head_dim, s.Q, s.K, s.V, output) &&
           succeeded(cudaFuncGetAttributes(&attributes, attention_matrix_kernel<Bf16, FlashShape<64, 1, 4, 3>>)) &&
           attributes.ptxVersion >= 80;
}

int32_t attend_by_units(Bf16, const AttentionOf<half_bits>& s, half_bits* output, float* lse, void* stream) {
    return attend<Bf16>({s, output, lse}, stream);
}

int32_t attend_by_units(Fp16, const AttentionOf<half_bits>& s, half_bits* output, float* lse, void* stream) {
    return attend<Fp16>({s, output, lse}, stream);
}
