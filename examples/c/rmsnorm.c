/* One operation in C.  The name, the arguments and their order are those of the header's declaration; `assayer explain
 * rmsnorm` prints it. */
#include <math.h>
#include <stdint.h>

enum { OK = 0, INVALID = -2 };

/* output = x * r * weight, r = 1 / sqrt(mean(x^2) + eps), row by row. */
int32_t cuda_rmsnorm(const float* input, const float* weight, float* output, int rows, int hidden_dim, float eps, void* stream) {
    (void)stream; /* of a device */
    if (!input || !weight || !output || rows < 1 || hidden_dim < 1 || !(eps >= 0)) return INVALID;
    if (rows > INT64_MAX / (int64_t)sizeof(float) / hidden_dim) return INVALID; /* more bytes than can be counted */
    for (int64_t row = 0; row < rows; row++) {
        const float* const x = input + row * hidden_dim;
        float squares = 0;
        for (int i = 0; i < hidden_dim; i++) squares += x[i] * x[i];
        const float r = 1 / sqrtf(squares / (float)hidden_dim + eps);
        for (int i = 0; i < hidden_dim; i++) output[row * hidden_dim + i] = x[i] * r * weight[i];
    }
    return OK;
}
