#include "matrix_fp16.cuh"

#include "matrix_swiglu.cuh"

int32_t multiply_halves(Fp16, const ProductOf<half_bits>& p, void* stream) { return multiply_either<Fp16>(p, stream); }
int32_t multiply_halves(Fp16, const ProductOf<half_bits, float>& p, void* stream) {
    return multiply_either<Fp16>(p, stream);
}
int32_t multiply_gated(Fp16, const GatedProduct<half_bits>& p, void* stream) { return gated_either<Fp16>(p, stream); }
