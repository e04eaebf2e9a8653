/* Attention forward in 16 bits by matrix units: attention_by_units.cu. */
#ifndef ASSAYER_ATTENTION_BY_UNITS_CUH
#define ASSAYER_ATTENTION_BY_UNITS_CUH

#include "attention.cuh"
#include "half.cuh"

/* ASSAYER_UNSUPPORTED, and nothing done, where there are no such units, or heads or arrays that they do not take (heads
 * of more than 128 numbers, or not in whole, aligned chunks), or too few tiles for them: where few see many, the
 * kernels of float32 share out what each sees. */
int32_t attend_by_units(Bf16, const AttentionOf<half_bits>& s, half_bits* output, float* lse, void* stream);
int32_t attend_by_units(Fp16, const AttentionOf<half_bits>& s, half_bits* output, float* lse, void* stream);

#endif
