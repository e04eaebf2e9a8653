/* Attention in 16 bits by matrix units: attention_halves.cu, attention_halves_backward.cu.
 *
 * ASSAYER_UNSUPPORTED, and nothing done, where there are no such units, or heads or arrays that they do not take (heads
 * of more than 128 numbers, or not in whole, aligned chunks), or too few tiles for them: where few see many, the
 * kernels of float32 share out what each sees. */
#ifndef ASSAYER_ATTENTION_HALVES_CUH
#define ASSAYER_ATTENTION_HALVES_CUH

#include "attention.cuh"
#include "half.cuh"

int32_t attend_by_units(Bf16, const AttentionOf<half_bits>& s, half_bits* output, float* lse, void* stream);

/* What attention backward is given besides Q, K and V, and what it gives. */
struct AttentionGradients {
    const half_bits* output;
    const float* lse;
    const half_bits* d_output;
    half_bits *d_Q, *d_K, *d_V;
};

int32_t differentiate_by_units(Bf16, const AttentionOf<half_bits>& s, const AttentionGradients& g, void* stream);

/* Weights do not go into parts of float16: attention_fragments.cuh. */
inline int32_t attend_by_units(Fp16, const AttentionOf<half_bits>&, half_bits*, float*, void*) {
    return ASSAYER_UNSUPPORTED;
}
inline int32_t differentiate_by_units(Fp16, const AttentionOf<half_bits>&, const AttentionGradients&, void*) {
    return ASSAYER_UNSUPPORTED;
}

#endif
