/* Operations in eager mode: each step computes in float32, and what it stores is rounded to bfloat16.
 *
 * WRONG compiles a mistake in: the last column left out of the sum (softmax), the sum in place of the mean (rmsnorm), sigmoid of twice
 * the number (silu). */
#include <math.h>
#include <string.h>

#include "assayer.h"

#ifndef WRONG
#define WRONG 0
#endif

static float stored(float x) {
    uint32_t bits;
    if (!isfinite(x)) return x;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) {
    (void)stream;
    for (int64_t i = 0; i < n; i++) {
        const float e = stored(expf((WRONG ? -2 : -1) * input[i]));
        output[i] = stored(input[i] * stored(1 / stored(1 + e)));
    }
    return ASSAYER_OK;
}

int32_t cuda_softmax(const float* input, float* output, int rows, int cols, void* stream) {
    (void)stream;
    for (int64_t row = 0; row < rows; row++, input += cols, output += cols) {
        float maximum = input[0], sum = 0;
        for (int i = 1; i < cols; i++) maximum = fmaxf(maximum, input[i]);
        for (int i = 0; i < cols; i++) output[i] = stored(expf(stored(input[i] - maximum)));
        for (int i = 0; i < cols - WRONG; i++) sum += output[i];
        for (int i = 0; i < cols; i++) output[i] = stored(output[i] / stored(sum));
    }
    return ASSAYER_OK;
}

int32_t cuda_rmsnorm(const float* input, const float* weight, float* output, int rows, int hidden_dim, float eps, void* stream) {
    (void)stream;
    for (int64_t row = 0; row < rows; row++, input += hidden_dim, output += hidden_dim) {
        float squares = 0;
        for (int i = 0; i < hidden_dim; i++) squares += stored(input[i] * input[i]);
        const float mean = WRONG ? stored(squares) : stored(stored(squares) / (float)hidden_dim);
        const float r = stored(1 / stored(sqrtf(stored(mean + eps))));
        for (int i = 0; i < hidden_dim; i++) output[i] = stored(stored(input[i] * r) * weight[i]);
    }
    return ASSAYER_OK;
}
