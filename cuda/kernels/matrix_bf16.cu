#include "matrix_bf16.cuh"

#include "matrix.cuh"

int32_t multiply_halves(Bf16, const ProductOf<half_bits>& p, void* stream) { return multiply_either<Bf16>(p, stream); }
int32_t multiply_halves(Bf16, const ProductOf<half_bits, float>& p, void* stream) {
    return multiply_either<Bf16>(p, stream);
}
