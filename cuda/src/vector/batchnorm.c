/* Batch norm's routines: of a run of one channel, and of columns side by side that have statistics of their own. */
#include "math.h"
#include "names.h"
#include "vec.h"

static void affine(int64_t n, const float* restrict x, float mean, float scale, float bias, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = (x[i] - mean) * scale + bias;
}

static void affine_columns(int64_t n, const float* restrict x, const struct norm_columns* restrict c, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = (x[i] - c->mean[i]) * c->scale[i] + c->bias[i];
}

static void add_columns(int64_t n, const float* restrict x, double* restrict sums) {
    SIMD for (int64_t i = 0; i < n; i++) sums[i] += x[i];
}

static void add_deviations(int64_t n, const float* restrict x, const double* restrict mean, double* restrict sums) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const double deviation = x[i] - mean[i];
        sums[i] += deviation * deviation;
    }
}

/* Sums stay in registers from run to run, as runs may be as short as a few vectors; two of each, so that none waits for the one
 * before it. */
static void add_gradient_sums(int64_t runs, int64_t apart, int64_t n, const float* x, const float* dy, float mean, struct norm_sums* sums) {
    enum { STEP = 2 * WIDE_LANES };
    wide of_dy[2] = {(wide){0}, (wide){0}}, of_product[2] = {(wide){0}, (wide){0}};
    double rest_of_dy = 0, rest_of_product = 0;
    for (int64_t r = 0; r < runs; r++, x += apart, dy += apart) {
        int64_t i = 0;
        for (; i + STEP <= n; i += STEP)
            UNROLLED for (int k = 0; k < 2; k++) {
                const wide d = WIDENED(dy + i + k * WIDE_LANES);
                of_dy[k] += d;
                of_product[k] += d * (WIDENED(x + i + k * WIDE_LANES) - (double)mean);
            }
        for (; i < n; i++) {
            rest_of_dy += dy[i];
            rest_of_product += dy[i] * ((double)x[i] - mean);
        }
    }
    for (int i = 0; i < WIDE_LANES; i++) {
        rest_of_dy += ELEMENT(of_dy[0] + of_dy[1], i);
        rest_of_product += ELEMENT(of_product[0] + of_product[1], i);
    }
    sums->of_dy += rest_of_dy;
    sums->of_product += rest_of_product;
}

static void add_gradient_columns(int64_t n, const float* restrict x, const float* restrict dy, const float* restrict mean,
                                 double* restrict of_dy, double* restrict of_product) {
    SIMD for (int64_t i = 0; i < n; i++) {
        of_dy[i] += dy[i];
        of_product[i] += (double)dy[i] * (x[i] - mean[i]);
    }
}

static void norm_gradient(int64_t n, const float* restrict x, const float* restrict dy, const struct norm_factors* factors,
                          float* restrict dx) {
    const struct norm_factors f = *factors;
    SIMD for (int64_t i = 0; i < n; i++) dx[i] = (dy[i] - f.of_dy - (x[i] - f.mean) * f.of_x) * f.scale;
}

static void norm_gradient_columns(int64_t n, const float* restrict x, const float* restrict dy,
                                  const struct norm_columns* restrict c, float* restrict dx) {
    SIMD for (int64_t i = 0; i < n; i++)
        dx[i] = (dy[i] - c->of_dy[i] - (x[i] - c->mean[i]) * c->of_x[i]) * c->scale[i];
}

void NAME(fill_batchnorm)(struct simd* table) {
    table->affine = affine;
    table->affine_columns = affine_columns;
    table->add_columns = add_columns;
    table->add_deviations = add_deviations;
    table->add_gradient_sums = add_gradient_sums;
    table->add_gradient_columns = add_gradient_columns;
    table->norm_gradient = norm_gradient;
    table->norm_gradient_columns = norm_gradient_columns;
}
