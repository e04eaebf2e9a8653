#include "attention_backward_bf16.cuh"

#include "attention_matrix_backward.cuh"
#include "attention_units.cuh"
#include "scratch.cuh"

namespace {

using Narrow = FlashBackwardShape<64, 4, 32, 3>;
using Wide = FlashBackwardShape<WIDEST_HEAD, 8, 16, 1>;

template <typename Shape> int32_t launch(HalfBackward g, void* stream) {
    const int64_t pairs = g.s.pairs(), blocks = g.tiles<Shape>() * pairs, key_blocks = g.key_tiles<Shape>() * pairs;
    if (blocks > INT32_MAX || key_blocks > INT32_MAX || !enough_tiles(key_blocks, g.s.queries()))
        return ASSAYER_UNSUPPORTED;
    const Scratch scratch(pairs * g.padded<Shape>() * int64_t{sizeof(QueryRow)}, stream_of(stream));
    TRY(scratch.code());
    g.rows = scratch.as<QueryRow>();
    TRY(launch_by_units<Shape>(d_queries_matrix_kernel<Bf16, Shape>, blocks, g, stream));
    return launch_by_units<Shape>(d_keys_matrix_kernel<Bf16, Shape>, key_blocks, g, stream);
}

} // namespace

int32_t differentiate_by_units(Bf16, const AttentionOf<half_bits>& s, const AttentionGradients& g, void* stream) {
    if (s.head_dim > WIDEST_HEAD || !sizes_in_31_bits(s) ||
        !rows_of_quads(s.head_dim, s.Q, s.K, s.V, g.output, g.d_output, g.d_Q, g.d_K, g.d_V) ||
        !has_units(d_queries_matrix_kernel<Bf16, Narrow>))
        return ASSAYER_UNSUPPORTED;
    const HalfBackward of_call = {g, s, nullptr};
    return s.head_dim <= Narrow::WIDTH ? launch<Narrow>(of_call, stream) : launch<Wide>(of_call, stream);
}
