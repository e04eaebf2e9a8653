/* Many products of one shape, or of the groups of rows that experts own: what gemm and attention are made of. */
#ifndef ASSAYER_PRODUCT_CUH
#define ASSAYER_PRODUCT_CUH

#include "launch.cuh"

/* What offsets cut: nothing, the rows of A and C, or the depth that is summed over. */
enum class Groups { NONE, ROWS, DEPTH };

/* What becomes of C when its sums are whole: C += bias, a bias to a column, and output = f(C). */
struct Epilogue {
    const float* bias = nullptr; /* or none */
    float* output = nullptr;     /* laid out as C; without it there is no epilogue */
    int activation = 0;
    float alpha = 0.0f;
};

/* C = alpha * A . B + beta * C, [rows, columns], for every batch and head.  `along`: the factor lies with its depth
 * side by side (A as it is, B transposed), its rows or columns stride apart; else the other way round. */
template <typename T, typename Out = T> struct ProductOf {
    const T *A, *B;
    Out* C;
    bool a_along, b_along;
    int64_t rows, columns, depth;
    int64_t a_stride, b_stride, c_stride;
    float alpha = 1.0f, beta = 0.0f;
    bool causal = false; /* outputs right of the diagonal are -infinity */

    int64_t batches = 1, heads = 1;
    int64_t a_batch = 0, b_batch = 0, c_batch = 0; /* from one batch to the next */
    int64_t a_head = 0, c_head = 0;                /* from one head to the next */

    Groups groups = Groups::NONE;
    const int32_t* offsets = nullptr; /* [experts + 1], ascending from 0 to `grouped`; where they do not, C is NaN */
    int experts = 0;
    int64_t grouped = 0;
    int64_t b_expert = 0, c_expert = 0; /* from one expert to the next */

    Epilogue epilogue = {}; /* of one product with A as it is and B transposed */

    bool c_quads = false; /* multiply() finds out: rows of C are whole, aligned quads */
    bool biased = false;  /* and this: of a pointer that a kernel compares with null again and again, nvcc 13.0 for
                             sm_100 and later forgets that it is one of global memory */
};
using Product = ProductOf<float>;

int32_t multiply(Product product, void* stream);

/* True where what lies side by side in either factor is a whole number of quads. */
bool factors_in_quads(const Product& p);

#endif
