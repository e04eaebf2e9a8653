#include "matrix_bf16.cuh"

#include "matrix_swiglu.cuh"

int32_t multiply_halves(Bf16, const ProductOf<half_bits>& p, void* stream) { return multiply_either<Bf16>(p, stream); }
int32_t multiply_halves(Bf16, const ProductOf<half_bits, float>& p, void* stream) {
    return multiply_either<Bf16>(p, stream);
}
int32_t multiply_gated(Bf16, const GatedProduct<half_bits>& p, void* stream) { return gated_either<Bf16>(p, stream); }
