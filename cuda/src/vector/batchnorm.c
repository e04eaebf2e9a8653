/* Batch norm's routines: of a run of one channel, and of columns side by side that have statistics of their own. */
#include "math.h"
#include "names.h"

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

static void add_gradient_sums(int64_t n, const float* restrict x, const float* restrict dy, float mean, struct norm_sums* sums) {
    double of_dy = 0, of_product = 0;
    SIMD_SUM(of_dy, of_product) for (int64_t i = 0; i < n; i++) {
        of_dy += dy[i];
        of_product += (double)dy[i] * (x[i] - mean);
    }
    sums->of_dy += of_dy;
    sums->of_product += of_product;
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
