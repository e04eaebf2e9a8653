#include "attention_backward_by_units.cuh"

#include "attention_matrix_backward.cuh"
#include "attention_units.cuh"
#include "scratch.cuh"

namespace {

template <typename Format> using Narrow = FlashBackwardShape<64, 4, 32, RESIDENT_OF_NARROW<Format>>;
using Wide = FlashBackwardShape<WIDEST_HEAD, 8, 16, 1>;

template <typename Format, typename Shape> int32_t launch(HalfBackward g, void* stream) {
    const int64_t pairs = g.s.pairs(), blocks = g.tiles<Shape>() * pairs, key_blocks = g.key_tiles<Shape>() * pairs;
    if (blocks > INT32_MAX || key_blocks > INT32_MAX || !enough_tiles(key_blocks, g.s.queries()))
        return ASSAYER_UNSUPPORTED;
    const Scratch scratch(pairs * g.padded<Shape>() * int64_t{sizeof(QueryRow)}, stream_of(stream));
    TRY(scratch.code());
    g.rows = scratch.as<QueryRow>();
    TRY(launch_by_units<Shape>(d_queries_matrix_kernel<Format, Shape>, blocks, g, stream));
    return launch_by_units<Shape>(d_keys_matrix_kernel<Format, Shape>, key_blocks, g, stream);
}

template <typename Format> int32_t differentiate(const HalfBackward& g, void* stream) {
    const AttentionOf<half_bits>& s = g.s;
    if (s.head_dim > WIDEST_HEAD || !sizes_in_31_bits(s) ||
        !rows_of_quads(s.head_dim, s.Q, s.K, s.V, g.output, g.d_output, g.d_Q, g.d_K, g.d_V) ||
        !has_units(d_queries_matrix_kernel<Format, Narrow<Format>>))
        return ASSAYER_UNSUPPORTED;
    if (s.head_dim <= Narrow<Format>::WIDTH) return launch<Format, Narrow<Format>>(g, stream);
    return launch<Format, Wide>(g, stream);
}

} // namespace

int32_t differentiate_by_units(Bf16, const AttentionOf<half_bits>& s, const AttentionGradients& g, void* stream) {
    return differentiate<Bf16>({g, s, nullptr}, stream);
}
int32_t differentiate_by_units(Fp16, const AttentionOf<half_bits>& s, const AttentionGradients& g, void* stream) {
    return differentiate<Fp16>({g, s, nullptr}, stream);
}
