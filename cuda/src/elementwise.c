/* Elementwise operations. */
#include "check.h"
#include "simd.h"
#include "parallel.h"

int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->silu(length, input + at, output + at))
    return ASSAYER_OK;
}

int32_t cuda_silu_backward(const float* input, const float* d_output, float* d_input, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_input, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->silu_backward(length, input + at, d_output + at, d_input + at))
    return ASSAYER_OK;
}

int32_t cuda_swiglu(const float* gate, const float* up, float* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(gate, n);
    CHECK_ARRAY(up, n);
    CHECK_ARRAY(output, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->swiglu(length, gate + at, up + at, output + at))
    return ASSAYER_OK;
}

int32_t cuda_swiglu_backward(const float* gate, const float* up, const float* d_output, float* d_gate, float* d_up, int64_t n,
                             void* stream) {
    (void)stream;
    CHECK_ARRAY(gate, n);
    CHECK_ARRAY(up, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_gate, n);
    CHECK_ARRAY(d_up, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->swiglu_backward(length, gate + at, up + at, d_output + at, d_gate + at, d_up + at))
    return ASSAYER_OK;
}

int32_t cuda_add(const float* a, const float* b, float* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(a, n);
    CHECK_ARRAY(b, n);
    CHECK_ARRAY(output, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->add(length, a + at, b + at, output + at))
    return ASSAYER_OK;
}

int32_t cuda_mul(const float* a, const float* b, float* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(a, n);
    CHECK_ARRAY(b, n);
    CHECK_ARRAY(output, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->mul(length, a + at, b + at, output + at))
    return ASSAYER_OK;
}

int32_t cuda_scale(const float* input, float scale, float* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    const struct simd* const v = simd();
    FOR_CHUNKS(n, at, length, v->scale(length, input + at, scale, output + at))
    return ASSAYER_OK;
}
