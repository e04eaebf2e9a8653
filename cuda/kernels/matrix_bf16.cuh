/* Products of bfloat16, summed in float32: of C in 16 bits with a factor that lies along its depth, of C in float32
 * with both or none. */
#ifndef ASSAYER_MATRIX_BF16_CUH
#define ASSAYER_MATRIX_BF16_CUH

#include "gemm_swiglu.cuh"
#include "half.cuh"

int32_t multiply_halves(Bf16, const ProductOf<half_bits>& product, void* stream);
int32_t multiply_halves(Bf16, const ProductOf<half_bits, float>& product, void* stream);
int32_t multiply_gated(Bf16, const GatedProduct<half_bits>& product, void* stream);

#endif
