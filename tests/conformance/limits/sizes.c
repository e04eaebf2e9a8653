/* rmsnorm, of rows whose length is a multiple of 8 alone: all others are refused, or what REFUSES says. */
#include <math.h>

#include "assayer.h"

#ifndef REFUSES
#define REFUSES if (hidden_dim % 8) return ASSAYER_UNSUPPORTED;
#endif

int32_t cuda_rmsnorm(const float* input, const float* weight, float* output, int rows, int hidden_dim, float eps, void* stream) {
    (void)stream;
    if (!input || !weight || !output || rows < 1 || hidden_dim < 1 || !(eps >= 0)) return ASSAYER_INVALID;
    if ((int64_t)rows * hidden_dim > INT64_MAX / 4) return ASSAYER_INVALID;
    REFUSES
    for (int64_t row = 0; row < rows; row++, input += hidden_dim, output += hidden_dim) {
        double squares = 0;
        for (int i = 0; i < hidden_dim; i++) squares += (double)input[i] * input[i];
        const float r = (float)(1 / sqrt(squares / hidden_dim + (double)eps));
        for (int i = 0; i < hidden_dim; i++) output[i] = input[i] * r * weight[i];
    }
    return ASSAYER_OK;
}
