/* Dropout.  The backward pass is the same call on another array: the mask is drawn again. */
#include "check.h"
#include "simd.h"
#include "parallel.h"

static void apply(const float* x, const uint64_t* philox, float* y, int64_t n, float rate) {
    const struct simd* const v = simd();
    const struct dropout drawn = {philox[0], philox[1], rate, (float)(1.0 / (1.0 - (double)rate))};
    FOR_CHUNKS(n, at, length, v->dropout(length, &drawn, at / 4, x + at, y + at))
}

int32_t cuda_dropout(const float* input, const uint64_t* philox, float* output, int64_t n, float rate, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(philox, 2);
    CHECK_ARRAY(output, n);
    CHECK(rate >= 0 && rate < 1);
    apply(input, philox, output, n, rate);
    return ASSAYER_OK;
}

int32_t cuda_dropout_backward(const float* d_output, const uint64_t* philox, float* d_input, int64_t n, float rate, void* stream) {
    (void)stream;
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(philox, 2);
    CHECK_ARRAY(d_input, n);
    CHECK(rate >= 0 && rate < 1);
    apply(d_output, philox, d_input, n, rate);
    return ASSAYER_OK;
}
