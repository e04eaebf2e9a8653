/* Gate and up as one product with SwiGLU behind it, as its callers see it. */
#ifndef ASSAYER_GEMM_SWIGLU_CUH
#define ASSAYER_GEMM_SWIGLU_CUH

#include "product.cuh"

/* C is gate, up as large, laid out as C, and output = silu(gate) * up of the sums before
 * they are rounded.  columns is that of both together, which lie in tiles by turns; A lies as it is, B and B_up
 * transposed, of one product or of the groups that rows are in. */
template <typename T> struct GatedProduct : ProductOf<T> {
    const T* B_up;
    T *up, *output;
};

int32_t multiply_gated(const GatedProduct<float>& product, void* stream);

#endif
