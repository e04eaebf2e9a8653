/* Attention forward in 16 bits by matrix units: attention_halves.cu. */
#ifndef ASSAYER_ATTENTION_HALVES_CUH
#define ASSAYER_ATTENTION_HALVES_CUH

#include "attention.cuh"
#include "half.cuh"

/* Whether there are such units, heads that they take (of at most 128 numbers, in whole, aligned chunks), and queries
 * for enough of them: where few see many keys, attention.cu shares the keys of each out. */
bool attends_by_units(const AttentionOf<half_bits>& s, const half_bits* output);

int32_t attend_by_units(Bf16, const AttentionOf<half_bits>& s, half_bits* output, float* lse, void* stream);
int32_t attend_by_units(Fp16, const AttentionOf<half_bits>& s, half_bits* output, float* lse, void* stream);

#endif
