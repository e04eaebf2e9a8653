/* Batch norm.  A channel is gone over as often as it takes, while it is in the cache: mean, variance and output one after the
 * other.  Where its runs are long they are taken one by one; where they are short, so are several channels side by side. */
#include "check.h"
#include "simd.h"
#include "parallel.h"

#include <math.h>

enum { LONG_RUN = 32, COLUMNS = NORM_COLUMNS };

/* channel: the first of `channels` that are treated together, each a run of `spatial` in every sample. */
struct group {
    int64_t batch, stride, channels, spatial, channel;
};

static struct group group_of(int64_t batch, int64_t channels, int64_t spatial, int64_t number) {
    const int64_t together = spatial >= LONG_RUN ? 1 : COLUMNS / spatial, first = number * together;
    return (struct group){batch, channels * spatial, min64(together, channels - first), spatial, first};
}

static int64_t groups_of(int64_t channels, int64_t spatial) {
    return spatial >= LONG_RUN ? channels : ceil_div(channels, COLUMNS / spatial);
}

/* Sums of each channel over the batch: of x - mean, or of its square; a run at a time, or all columns of the group. */
static void sum_up(const struct simd* v, const struct group* g, const float* x, const double* mean, double* sums) {
    const bool is_long = g->spatial >= LONG_RUN;
    const int64_t width = g->channels * g->spatial;
    double columns[COLUMNS] = {0}, means[COLUMNS];
    for (int64_t c = 0; c < g->channels; c++) sums[c] = 0;
    if (mean && !is_long)
        for (int64_t i = 0; i < width; i++) means[i] = mean[i / g->spatial];
    for (int64_t b = 0; b < g->batch; b++) {
        const float* const run = x + b * g->stride + g->channel * g->spatial;
        if (is_long) sums[0] += mean ? v->deviations(width, run, mean[0]) : v->sum(width, run);
        else if (mean) v->add_deviations(width, run, means, columns);
        else v->add_columns(width, run, columns);
    }
    if (!is_long)
        for (int64_t i = 0; i < width; i++) sums[i / g->spatial] += columns[i];
}

/* y = (x - mean) * scale + bias of the group; arrays of one number a channel. */
static void write_output(const struct simd* v, const struct group* g, const float* x, const float* mean, const float* scale,
                         const float* bias, float* y) {
    const bool is_long = g->spatial >= LONG_RUN;
    const int64_t width = g->channels * g->spatial;
    struct norm_columns columns;
    for (int64_t i = 0; i < width && !is_long; i++) {
        const int64_t c = i / g->spatial;
        columns.mean[i] = mean[c], columns.scale[i] = scale[c], columns.bias[i] = bias[c];
    }
    for (int64_t b = 0; b < g->batch; b++) {
        const int64_t at = b * g->stride + g->channel * g->spatial;
        if (is_long) v->affine(width, x + at, mean[0], scale[0], bias[0], y + at);
        else v->affine_columns(width, x + at, &columns, y + at);
    }
}

static float updated(float old, double found, float momentum) {
    return (float)((1.0 - (double)momentum) * old + (double)momentum * found);
}

struct training {
    const float *input, *weight, *bias;
    float *output, *mean, *rstd, *running_mean, *running_var, momentum, eps;
};

static void train_group(const struct simd* v, const struct training* t, const struct group* g) {
    const double count = (double)g->batch * (double)g->spatial;
    double mean[COLUMNS], squares[COLUMNS];
    float scale[COLUMNS];
    sum_up(v, g, t->input, NULL, mean);
    for (int64_t c = 0; c < g->channels; c++) mean[c] /= count;
    sum_up(v, g, t->input, mean, squares);
    for (int64_t c = 0; c < g->channels; c++) {
        const int64_t at = g->channel + c;
        const double rstd = 1.0 / sqrt(squares[c] / count + t->eps);
        t->mean[at] = (float)mean[c];
        t->rstd[at] = (float)rstd;
        t->running_mean[at] = updated(t->running_mean[at], mean[c], t->momentum);
        t->running_var[at] = updated(t->running_var[at], squares[c] / (count - 1), t->momentum);
        scale[c] = (float)(rstd * t->weight[at]);
    }
    write_output(v, g, t->input, t->mean + g->channel, scale, t->bias + g->channel, t->output);
}

int32_t cuda_batchnorm_training(const float* input, const float* weight, const float* bias, float* output, float* mean, float* rstd,
                                float* running_mean, float* running_var, int batch, int channels, int spatial, float momentum,
                                float eps, void* stream) {
    (void)stream;
    CHECK_ARRAY(input, batch, channels, spatial);
    CHECK_ARRAY(weight, channels);
    CHECK_ARRAY(bias, channels);
    CHECK_ARRAY(output, batch, channels, spatial);
    CHECK_ARRAY(mean, channels);
    CHECK_ARRAY(rstd, channels);
    CHECK_ARRAY(running_mean, channels);
    CHECK_ARRAY(running_var, channels);
    CHECK((int64_t)batch * spatial > 1 && momentum >= 0 && momentum <= 1 && eps >= 0);
    const struct training t = {input, weight, bias, output, mean, rstd, running_mean, running_var, momentum, eps};
    const struct simd* const v = simd();
    PARALLEL_FOR((int64_t)batch * channels * spatial >= SERIAL_BELOW)
    for (int64_t number = 0; number < groups_of(channels, spatial); number++) {
        const struct group g = group_of(batch, channels, spatial, number);
        train_group(v, &t, &g);
    }
    return ASSAYER_OK;
}

int32_t cuda_batchnorm_evaluation(const float* input, const float* weight, const float* bias, const float* running_mean,
                                  const float* running_var, float* output, int batch, int channels, int spatial, float eps,
                                  void* stream) {
    (void)stream;
    CHECK_ARRAY(input, batch, channels, spatial);
    CHECK_ARRAY(weight, channels);
    CHECK_ARRAY(bias, channels);
    CHECK_ARRAY(running_mean, channels);
    CHECK_ARRAY(running_var, channels);
    CHECK_ARRAY(output, batch, channels, spatial);
    CHECK(eps >= 0);
    const struct simd* const v = simd();
    PARALLEL_FOR((int64_t)batch * channels * spatial >= SERIAL_BELOW)
    for (int64_t number = 0; number < groups_of(channels, spatial); number++) {
        const struct group g = group_of(batch, channels, spatial, number);
        float scale[COLUMNS];
        for (int64_t c = 0; c < g.channels; c++)
            scale[c] = (float)(weight[g.channel + c] / sqrt((double)running_var[g.channel + c] + eps));
        write_output(v, &g, input, running_mean + g.channel, scale, bias + g.channel, output);
    }
    return ASSAYER_OK;
}
