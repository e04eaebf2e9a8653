/* Functions of one and of two numbers along runs, and runs joined to one number: what the operations on strided tensors are
 * made of.  Each table's order is that of the numbers in assayer.h; what other files have is taken from the table they filled. */
#include "math.h"
#include "names.h"

#include <assayer.h>
#include <math.h>

#define MAP(name, expression)                                                                                              \
    static void name(int64_t n, const float* restrict in, float* restrict y) {                                             \
        SIMD for (int64_t i = 0; i < n; i++) {                                                                             \
            const float x = in[i];                                                                                         \
            y[i] = expression;                                                                                             \
        }                                                                                                                  \
    }
#define ZIP(name, expression)                                                                                              \
    static void name(int64_t n, const float* restrict left, const float* restrict right, float* restrict y) {              \
        SIMD for (int64_t i = 0; i < n; i++) {                                                                             \
            const float a = left[i], b = right[i];                                                                         \
            y[i] = expression;                                                                                             \
        }                                                                                                                  \
    }

/* log(1 + exp(x)) = max(x, 0) + log(1 + e), e = exp(-|x|).  What the rounded sum s = 1 + e lost of e, log(s) lost of its own:
 * log(1 + e) = log(s) * e / (s - 1) (Goldberg 1991, theorem 4). */
static inline float softplus_lane(float x) {
    const float size = x < 0.0f ? -x : x, e = exp_lane(-size), s = 1.0f + e, kept = s - 1.0f;
    const float logarithm = kept > 0.0f ? log_lane(s) * (e / kept) : e;
    return (x < 0.0f ? 0.0f : x) + logarithm;
}

MAP(identity, x)
MAP(negative, -x)
MAP(absolute, fabsf(x))
MAP(sign, x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x)
MAP(whole_below, floorf(x))
MAP(whole_above, ceilf(x))
MAP(nearest_whole, rintf(x))
MAP(square, x * x)
MAP(reciprocal, 1.0f / x)
MAP(root, sqrtf(x))
MAP(inverse_root, 1.0f / sqrtf(x))
MAP(exponential, exp_lane(x))
MAP(logarithm, log_lane(x))
MAP(sine, sinf(x))
MAP(cosine, cosf(x))
MAP(softplus, softplus_lane(x))
MAP(error_function, erff(x))

ZIP(subtract, a - b)
ZIP(quotient, a / b)
ZIP(power, powf(a, b))
ZIP(larger, a > b || a != a ? a : b)
ZIP(smaller, a < b || a != a ? a : b)
ZIP(less, a < b ? 1.0f : 0.0f)
ZIP(less_equal, a <= b ? 1.0f : 0.0f)
ZIP(equal, a == b ? 1.0f : 0.0f)
ZIP(not_equal, a == b ? 0.0f : 1.0f)
ZIP(relu_backward, a <= 0.0f ? 0.0f : b)
ZIP(root_backward, b / (2.0f * a))

/* Runs are joined in double: a sum keeps its digits, and a product does not pass the largest float on its way. */
#define JOINED(name, expression)                                                                                           \
    static double name##_pair(double total, double x) { return expression; }                                               \
    static void name##_columns(int64_t n, const float* restrict in, double* restrict joined) {                             \
        SIMD for (int64_t i = 0; i < n; i++) {                                                                             \
            const double x = in[i], total = joined[i];                                                                     \
            joined[i] = expression;                                                                                        \
        }                                                                                                                  \
    }                                                                                                                      \
    static double name##_run(int64_t n, const float* in, double start) {                                                   \
        double joined[ABREAST];                                                                                            \
        int64_t i = 0;                                                                                                     \
        if (n >= ABREAST) {                                                                                                \
            for (int j = 0; j < ABREAST; j++) joined[j] = in[j];                                                           \
            for (i = ABREAST; i + ABREAST <= n; i += ABREAST) name##_columns(ABREAST, in + i, joined);                     \
            for (int j = 0; j < ABREAST; j++) start = name##_pair(start, joined[j]);                                       \
        }                                                                                                                  \
        for (; i < n; i++) start = name##_pair(start, in[i]);                                                              \
        return start;                                                                                                      \
    }
enum { ABREAST = 32 }; /* joined side by side, as a single chain waits for each of its links */

JOINED(sum, total + x)
JOINED(product, total * x)
JOINED(largest, x > total || x != x ? x : total)
JOINED(smallest, x < total || x != x ? x : total)

void NAME(fill_strided)(struct simd* table) {
    void (*const maps[])(int64_t, const float*, float*) = {
        identity, negative, absolute, sign, whole_below, whole_above, nearest_whole, square, reciprocal, root, inverse_root,
        exponential, logarithm, sine, cosine, table->tanh, table->sigmoid, table->silu, softplus, error_function, table->relu,
        table->gelu, table->gelu_tanh};
    void (*const zips[])(int64_t, const float*, const float*, float*) = {
        table->add, subtract, table->mul, quotient, power, larger, smaller, less, less_equal, equal, not_equal, relu_backward,
        table->sigmoid_backward, table->tanh_backward, root_backward, table->gelu_backward};
    const struct join joins[] = {{sum_columns, sum_run, sum_pair}, {product_columns, product_run, product_pair},
                                 {largest_columns, largest_run, largest_pair}, {smallest_columns, smallest_run, smallest_pair}};
    for (int i = 0; i < MAP_FUNCTIONS; i++) table->map[i] = maps[i];
    for (int i = 0; i < ZIP_FUNCTIONS; i++) table->zip[i] = zips[i];
    for (int i = 0; i < JOIN_FUNCTIONS; i++) table->join[i] = joins[i];
}
