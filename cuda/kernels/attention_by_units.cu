#include "attention_by_units.cuh"

#include "attention_matrix.cuh"
#include "attention_units.cuh"

namespace {

template <typename Format> using Narrow = FlashShape<64, 4, RESIDENT_OF_NARROW<Format>>;
using Wide = FlashShape<WIDEST_HEAD, 8, 1>;

template <typename Format, typename Shape> int32_t launch(const HalfForward& f, void* stream) {
    const int64_t blocks = f.tiles<Shape>() * f.s.pairs();
    if (blocks > INT32_MAX || !enough_tiles(blocks, f.s.kv_len)) return ASSAYER_UNSUPPORTED;
    return launch_by_units<Shape>(attention_matrix_kernel<Format, Shape>, blocks, f, stream);
}

template <typename Format> int32_t attend(const HalfForward& f, void* stream) {
    const AttentionOf<half_bits>& s = f.s;
    if (s.head_dim > WIDEST_HEAD || !sizes_in_31_bits(s) || !rows_of_quads(s.head_dim, s.Q, s.K, s.V, f.output) ||
        !has_units(attention_matrix_kernel<Format, Narrow<Format>>))
        return ASSAYER_UNSUPPORTED;
    if (s.head_dim <= Narrow<Format>::WIDTH) return launch<Format, Narrow<Format>>(f, stream);
    return launch<Format, Wide>(f, stream);
}

} // namespace

int32_t attend_by_units(Bf16, const AttentionOf<half_bits>& s, half_bits* output, float* lse, void* stream) {
    return attend<Bf16>({s, output, lse}, stream);
}
int32_t attend_by_units(Fp16, const AttentionOf<half_bits>& s, half_bits* output, float* lse, void* stream) {
    return attend<Fp16>({s, output, lse}, stream);
}
