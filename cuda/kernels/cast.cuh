/* Arrays from 16 bits to float32 and back: cast.cu. */
#ifndef ASSAYER_CAST_CUH
#define ASSAYER_CAST_CUH

#include "half.cuh"

template <typename Format> int32_t widen(Format, const half_bits* input, float* output, int64_t n, void* stream);
template <typename Format> int32_t narrow(Format, const float* input, half_bits* output, int64_t n, void* stream);

#endif
