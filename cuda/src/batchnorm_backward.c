/* The gradient of batch norm: the sums of a channel, then d_input while it is in the cache.  Channels go together as in
 * batchnorm.c. */
#include "check.h"
#include "simd.h"
#include "parallel.h"

enum { LONG_RUN = 32, COLUMNS = NORM_COLUMNS };

struct backward {
    const float *x, *weight, *mean, *rstd, *d_output;
    float *d_input, *d_weight, *d_bias, beta;
    int64_t batch, stride, spatial;
};

/* What sums of a channel say of its gradients, and d_input's factors: (dy - of_dy - (x - mean) * of_x) * scale. */
static struct norm_factors finish(const struct backward* b, int64_t c, struct norm_sums sums) {
    const double count = (double)b->batch * (double)b->spatial, r = b->rstd[c];
    const double d_weight = sums.of_product * r;
    b->d_weight[c] = (float)(b->beta == 0 ? d_weight : (double)b->beta * b->d_weight[c] + d_weight);
    b->d_bias[c] = (float)(b->beta == 0 ? sums.of_dy : (double)b->beta * b->d_bias[c] + sums.of_dy);
    return (struct norm_factors){b->mean[c], (float)(sums.of_dy / count), (float)(d_weight * r / count),
                                 (float)(b->weight[c] * r)};
}

/* One channel, whose runs are long. */
static void long_channel(const struct simd* v, const struct backward* b, int64_t c) {
    struct norm_sums sums = {0, 0};
    const int64_t first = c * b->spatial;
    v->add_gradient_sums(b->batch, b->stride, b->spatial, b->x + first, b->d_output + first, b->mean[c], &sums);
    const struct norm_factors factors = finish(b, c, sums);
    for (int64_t i = 0; i < b->batch; i++) {
        const int64_t at = i * b->stride + c * b->spatial;
        v->norm_gradient(b->spatial, b->x + at, b->d_output + at, &factors, b->d_input + at);
    }
}

/* Some channels from c on, whose runs are short: columns side by side. */
static void short_channels(const struct simd* v, const struct backward* b, int64_t c, int64_t channels) {
    const int64_t width = channels * b->spatial, first = c * b->spatial;
    double of_dy[COLUMNS] = {0}, of_product[COLUMNS] = {0};
    struct norm_columns columns;
    for (int64_t i = 0; i < width; i++) columns.mean[i] = b->mean[c + i / b->spatial];
    for (int64_t i = 0; i < b->batch; i++) {
        const int64_t at = i * b->stride + first;
        v->add_gradient_columns(width, b->x + at, b->d_output + at, columns.mean, of_dy, of_product);
    }
    for (int64_t channel = 0; channel < channels; channel++) {
        struct norm_sums sums = {0, 0};
        for (int64_t i = channel * b->spatial; i < (channel + 1) * b->spatial; i++) {
            sums.of_dy += of_dy[i];
            sums.of_product += of_product[i];
        }
        const struct norm_factors factors = finish(b, c + channel, sums);
        for (int64_t i = channel * b->spatial; i < (channel + 1) * b->spatial; i++)
            columns.of_dy[i] = factors.of_dy, columns.of_x[i] = factors.of_x, columns.scale[i] = factors.scale;
    }
    for (int64_t i = 0; i < b->batch; i++) {
        const int64_t at = i * b->stride + first;
        v->norm_gradient_columns(width, b->x + at, b->d_output + at, &columns, b->d_input + at);
    }
}

int32_t cuda_batchnorm_backward(const float* input, const float* weight, const float* mean, const float* rstd, const float* d_output,
                                float* d_input, float* d_weight, float* d_bias, int batch, int channels, int spatial, float beta,
                                void* stream) {
    (void)stream;
    CHECK_ARRAY(input, batch, channels, spatial);
    CHECK_ARRAY(weight, channels);
    CHECK_ARRAY(mean, channels);
    CHECK_ARRAY(rstd, channels);
    CHECK_ARRAY(d_output, batch, channels, spatial);
    CHECK_ARRAY(d_input, batch, channels, spatial);
    CHECK_ARRAY(d_weight, channels);
    CHECK_ARRAY(d_bias, channels);
    const struct backward b = {input, weight, mean, rstd, d_output, d_input, d_weight, d_bias, beta,
                               batch, (int64_t)channels * spatial, spatial};
    const int64_t together = spatial >= LONG_RUN ? 1 : COLUMNS / spatial;
    const struct simd* const v = simd();
    PARALLEL_FOR((int64_t)batch * channels * spatial >= SERIAL_BELOW)
    for (int64_t number = 0; number < ceil_div(channels, together); number++) {
        const int64_t first = number * together;
        if (spatial >= LONG_RUN) long_channel(v, &b, first);
        else short_channels(v, &b, first, min64(together, channels - first));
    }
    return ASSAYER_OK;
}
