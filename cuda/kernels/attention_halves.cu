#include "attention_halves.cuh"

#include "attention_matrix.cuh"

namespace {

using Narrow = FlashShape<64, 1, 4, 3>;
using Wide = FlashShape<128, 1, 8, 1>;

template <typename Shape> int32_t launch(const HalfForward& f, void* stream) {
    const int64_t blocks = f.tiles<Shape>() * f.s.pairs();
    if (blocks > INT32_MAX) return ASSAYER_UNSUPPORTED; /* past a grid's first axis */
    constexpr int BYTES = Shape::SHARED * int{sizeof(half_bits)};
    const auto kernel = attention_matrix_kernel<Bf16, Shape>;
    TRY(code_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES)));
    kernel<<<blocks_for(blocks, 1), Shape::THREADS, BYTES, stream_of(stream)>>>(f);
    return launched();
}

bool is_for_units(const AttentionOf<half_bits>& s, const half_bits* output) {
    const int64_t blocks = ceil_div(s.queries(), s.head_dim <= Narrow::WIDTH ? Narrow::ROWS : Wide::ROWS) * s.pairs();
    if (s.kv_len > 512 && 4 * blocks < device_attribute(cudaDevAttrMultiProcessorCount)) return false;
    cudaFuncAttributes attributes = {};
    return s.head_dim <= Wide::WIDTH && rows_of_quads(s.head_dim, s.Q, s.K, s.V, output) &&
           succeeded(cudaFuncGetAttributes(&attributes, attention_matrix_kernel<Bf16, Narrow>)) &&
           attributes.ptxVersion >= 80;
}

} // namespace

int32_t attend_by_units(Bf16, const AttentionOf<half_bits>& s, half_bits* output, float* lse, void* stream) {
    if (!is_for_units(s, output)) return ASSAYER_UNSUPPORTED;
    const HalfForward f = {s, output, lse};
    return s.head_dim <= Narrow::WIDTH ? launch<Narrow>(f, stream) : launch<Wide>(f, stream);
}
