/* Attention forward in 16 bits by matrix units: attention_halves.cu. */
#ifndef ASSAYER_ATTENTION_HALVES_CUH
#define ASSAYER_ATTENTION_HALVES_CUH

#include "attention.cuh"
#include "half.cuh"

/* ASSAYER_UNSUPPORTED, and nothing done, where there are no such units, or heads or arrays that they do not take (heads
 * of more than 128 numbers, or not in whole, aligned chunks), or too few queries for them: where few see many keys,
 * attention.cu shares the keys of each out. */
int32_t attend_by_units(Bf16, const AttentionOf<half_bits>& s, half_bits* output, float* lse, void* stream);

/* Weights do not go into parts of float16: attention_matrix.cuh. */
inline int32_t attend_by_units(Fp16, const AttentionOf<half_bits>&, half_bits*, float*, void*) {
    return ASSAYER_UNSUPPORTED;
}

#endif
