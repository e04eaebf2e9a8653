/* Attention backward in 16 bits by matrix units: attention_backward_by_units.cu. */
#ifndef ASSAYER_ATTENTION_BACKWARD_BY_UNITS_CUH
#define ASSAYER_ATTENTION_BACKWARD_BY_UNITS_CUH

#include "attention.cuh"
#include "half.cuh"

/* What attention backward is given besides Q, K and V, and what it gives. */
struct AttentionGradients {
    const half_bits* output;
    const float* lse;
    const half_bits* d_output;
    half_bits *d_Q, *d_K, *d_V;
};

/* ASSAYER_UNSUPPORTED, and nothing done, where attend_by_units says so. */
int32_t differentiate_by_units(Bf16, const AttentionOf<half_bits>& s, const AttentionGradients& g, void* stream);
int32_t differentiate_by_units(Fp16, const AttentionOf<half_bits>& s, const AttentionGradients& g, void* stream);

#endif
