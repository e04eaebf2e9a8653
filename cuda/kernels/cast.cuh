/* Arrays from 16 bits to float32 and back: cast.cu. */
#ifndef ASSAYER_CAST_CUH
#define ASSAYER_CAST_CUH

#include "half.cuh"

int32_t widen(Bf16, const half_bits* input, float* output, int64_t n, void* stream);
int32_t widen(Fp16, const half_bits* input, float* output, int64_t n, void* stream);
int32_t narrow(Bf16, const float* input, half_bits* output, int64_t n, void* stream);
int32_t narrow(Fp16, const float* input, half_bits* output, int64_t n, void* stream);

#endif
