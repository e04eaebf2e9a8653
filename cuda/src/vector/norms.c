/* Routines of norms that take a mean off: layer norm of rows, batch norm of channels.  Sums are taken in double, as those of
 * rows.c are. */
#include "math.h"
#include "names.h"

static double sum(int64_t n, const float* x) {
    double total = 0;
    SIMD_SUM(total) for (int64_t i = 0; i < n; i++) total += x[i];
    return total;
}

static double deviations(int64_t n, const float* x, double mean) {
    double total = 0;
    SIMD_SUM(total) for (int64_t i = 0; i < n; i++) {
        const double deviation = x[i] - mean;
        total += deviation * deviation;
    }
    return total;
}

static void standardise(int64_t n, const float* restrict x, float mean, float rstd, const float* restrict weight,
                        const float* restrict bias, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = (x[i] - mean) * rstd * weight[i] + bias[i];
}

/* dx = rstd * (g - mean(g) - h * mean(g * h)) with h = (x - mean) * rstd, g = dy * weight; dw += dy * h; db += dy. */
static void layernorm_backward(struct norm_row norm, const float* restrict x, const float* restrict weight, const float* restrict dy,
                               float* restrict dx, float* restrict dw, float* restrict db) {
    const float mean = norm.mean, rstd = norm.rstd;
    double of_g = 0, of_gh = 0;
    SIMD_SUM(of_g, of_gh) for (int64_t i = 0; i < norm.n; i++) {
        const float g = dy[i] * weight[i];
        of_g += g;
        of_gh += (double)g * ((x[i] - mean) * rstd);
    }
    const float mean_g = (float)(of_g / (double)norm.n), mean_gh = (float)(of_gh / (double)norm.n);
    SIMD for (int64_t i = 0; i < norm.n; i++) {
        const float h = (x[i] - mean) * rstd;
        dx[i] = rstd * (dy[i] * weight[i] - mean_g - h * mean_gh);
        dw[i] += dy[i] * h;
        db[i] += dy[i];
    }
}

void NAME(fill_norms)(struct simd* table) {
    table->sum = sum;
    table->deviations = deviations;
    table->standardise = standardise;
    table->layernorm_backward = layernorm_backward;
}
