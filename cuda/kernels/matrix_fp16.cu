#include "matrix_fp16.cuh"

#include "matrix.cuh"

int32_t multiply_halves(Fp16, const ProductOf<half_bits>& p, void* stream) { return multiply_either<Fp16>(p, stream); }
int32_t multiply_halves(Fp16, const ProductOf<half_bits, float>& p, void* stream) {
    return multiply_either<Fp16>(p, stream);
}
