/* Steps of sequences, cut out and joined.  What belongs to a sample lies in one piece. */
#include "check.h"
#include "parallel.h"

#include <string.h>

static void copy(float* to, const float* from, int64_t n) { memcpy(to, from, (size_t)n * sizeof(float)); }
static void clear(float* to, int64_t n) { memset(to, 0, (size_t)n * sizeof(float)); }

int32_t cuda_slice_steps(const float* input, float* output, int batch, int steps, int width, int first, int count, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, batch, steps, width);
    CHECK_ARRAY(output, batch, count, width);
    CHECK(first >= 0 && (int64_t)first + count <= steps);
    const int64_t all = (int64_t)steps * width, some = (int64_t)count * width, before = (int64_t)first * width;
    PARALLEL_FOR(batch * some >= SERIAL_BELOW)
    for (int64_t b = 0; b < batch; b++) copy(output + b * some, input + b * all + before, some);
    return ASSAYER_OK;
}

int32_t cuda_slice_steps_backward(const float* d_output, float* d_input, int batch, int steps, int width, int first, int count,
                                  void* stream) {
    (void)stream;
    CHECK_ARRAY(d_output, batch, count, width);
    CHECK_ARRAY(d_input, batch, steps, width);
    CHECK(first >= 0 && (int64_t)first + count <= steps);
    const int64_t all = (int64_t)steps * width, some = (int64_t)count * width, before = (int64_t)first * width;
    PARALLEL_FOR(batch * all >= SERIAL_BELOW)
    for (int64_t b = 0; b < batch; b++) {
        float* const to = d_input + b * all;
        clear(to, before);
        copy(to + before, d_output + b * some, some);
        clear(to + before + some, all - before - some);
    }
    return ASSAYER_OK;
}

int32_t cuda_concat_steps(const float* a, const float* b, float* output, int batch, int steps_a, int steps_b, int width,
                          void* stream) {
    (void)stream;
    CHECK_ARRAY(a, batch, steps_a, width);
    CHECK_ARRAY(b, batch, steps_b, width);
    CHECK_ARRAY(output, batch, (int64_t)steps_a + steps_b, width);
    const int64_t of_a = (int64_t)steps_a * width, of_b = (int64_t)steps_b * width;
    PARALLEL_FOR(batch * (of_a + of_b) >= SERIAL_BELOW)
    for (int64_t i = 0; i < batch; i++) {
        copy(output + i * (of_a + of_b), a + i * of_a, of_a);
        copy(output + i * (of_a + of_b) + of_a, b + i * of_b, of_b);
    }
    return ASSAYER_OK;
}

int32_t cuda_concat_steps_backward(const float* d_output, float* d_a, float* d_b, int batch, int steps_a, int steps_b, int width,
                                   void* stream) {
    (void)stream;
    CHECK_ARRAY(d_output, batch, (int64_t)steps_a + steps_b, width);
    CHECK_ARRAY(d_a, batch, steps_a, width);
    CHECK_ARRAY(d_b, batch, steps_b, width);
    const int64_t of_a = (int64_t)steps_a * width, of_b = (int64_t)steps_b * width;
    PARALLEL_FOR(batch * (of_a + of_b) >= SERIAL_BELOW)
    for (int64_t i = 0; i < batch; i++) {
        copy(d_a + i * of_a, d_output + i * (of_a + of_b), of_a);
        copy(d_b + i * of_b, d_output + i * (of_a + of_b) + of_a, of_b);
    }
    return ASSAYER_OK;
}
