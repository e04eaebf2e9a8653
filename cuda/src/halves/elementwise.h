/* Casts and elementwise operations of one 16-bit format, for operations.c. */

int32_t HALF(cuda_cast_to)(const float* input, half_bits* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    const struct half half = FORMAT;
    FOR_CHUNKS(n, at, length, half.narrow(length, input + at, output + at))
    return ASSAYER_OK;
}

int32_t HALF(cuda_cast_from)(const half_bits* input, float* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, n);
    CHECK_ARRAY(output, n);
    const struct half half = FORMAT;
    FOR_CHUNKS(n, at, length, half.widen(length, input + at, output + at))
    return ASSAYER_OK;
}

int32_t HALF(cuda_swiglu)(const half_bits* gate, const half_bits* up, half_bits* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(gate, n);
    CHECK_ARRAY(up, n);
    CHECK_ARRAY(output, n);
    const struct half_rows* const v = ROWS;
    FOR_CHUNKS(n, at, length, v->swiglu(length, gate + at, up + at, output + at))
    return ASSAYER_OK;
}

int32_t HALF(cuda_swiglu_backward)(const half_bits* gate, const half_bits* up, const half_bits* d_output, half_bits* d_gate,
                                   half_bits* d_up, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(gate, n);
    CHECK_ARRAY(up, n);
    CHECK_ARRAY(d_output, n);
    CHECK_ARRAY(d_gate, n);
    CHECK_ARRAY(d_up, n);
    const struct half_rows* const v = ROWS;
    FOR_CHUNKS(n, at, length, v->swiglu_backward(length, gate + at, up + at, d_output + at, d_gate + at, d_up + at))
    return ASSAYER_OK;
}

int32_t HALF(cuda_add)(const half_bits* a, const half_bits* b, half_bits* output, int64_t n, void* stream) {
    (void)stream;
    CHECK_ARRAY(a, n);
    CHECK_ARRAY(b, n);
    CHECK_ARRAY(output, n);
    const struct half_rows* const v = ROWS;
    FOR_CHUNKS(n, at, length, v->add(length, a + at, b + at, output + at))
    return ASSAYER_OK;
}
