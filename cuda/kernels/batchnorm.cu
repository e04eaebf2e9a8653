/* Batch norm by the batch's own statistics, and by running ones. */
#include "batchnorm.cuh"
#include "functions.cuh"

namespace {

struct Training {
    const float *input, *weight, *bias;
    float *output, *mean, *rstd, *running_mean, *running_var;
    float momentum, eps;
};

__device__ void write_output(const Images& images, int64_t channel, int64_t part, int64_t parts, const float* x,
                             float mean, float scale, float bias, float* y) {
    for (ChannelWalk walk(images, channel, part, parts); !walk.ended(); walk.next())
        y[walk.at()] = (x[walk.at()] - mean) * scale + bias;
}

/* Mean and variance are taken one after the other: a channel is in the cache by then. */
__device__ void train_channel(const Training& t, const Images& images, int64_t channel) {
    const float count = static_cast<float>(images.count());
    const float mean = channel_sum(images, channel, [&](int64_t at) { return t.input[at]; }) / count;
    const float squares = channel_sum(images, channel, [&](int64_t at) {
        const float deviation = t.input[at] - mean;
        return deviation * deviation;
    });
    const float rstd = 1.0f / sqrtf(squares / count + t.eps);
    if (threadIdx.x == 0) {
        const float rest = 1.0f - t.momentum, sample = squares / static_cast<float>(images.count() - 1);
        t.mean[channel] = mean;
        t.rstd[channel] = rstd;
        t.running_mean[channel] = rest * t.running_mean[channel] + t.momentum * mean;
        t.running_var[channel] = rest * t.running_var[channel] + t.momentum * sample;
    }
    write_output(images, channel, 0, 1, t.input, mean, rstd * t.weight[channel], t.bias[channel], t.output);
}

__global__ void __launch_bounds__(NORM_THREADS) training_kernel(Training t, Images images) {
    for (int64_t channel = blockIdx.x; channel < images.channels; channel += gridDim.x)
        train_channel(t, images, channel);
}

struct Evaluation {
    const float *input, *weight, *bias, *running_mean, *running_var;
    float* output;
    float eps;
};

__global__ void __launch_bounds__(NORM_THREADS) evaluation_kernel(Evaluation e, Images images) {
    for (int64_t channel = blockIdx.x; channel < images.channels; channel += gridDim.x) {
        const float scale = e.weight[channel] / sqrtf(e.running_var[channel] + e.eps);
        write_output(images, channel, blockIdx.y, gridDim.y, e.input, e.running_mean[channel], scale, e.bias[channel],
                     e.output);
    }
}

} // namespace

int32_t cuda_batchnorm_training(const float* input, const float* weight, const float* bias, float* output, float* mean,
                                float* rstd, float* running_mean, float* running_var, int batch, int channels,
                                int spatial, float momentum, float eps, void* stream) {
    CHECK_ARRAY(input, batch, channels, spatial);
    CHECK_ARRAY(weight, channels);
    CHECK_ARRAY(bias, channels);
    CHECK_ARRAY(output, batch, channels, spatial);
    CHECK_ARRAY(mean, channels);
    CHECK_ARRAY(rstd, channels);
    CHECK_ARRAY(running_mean, channels);
    CHECK_ARRAY(running_var, channels);
    const Images images{batch, channels, spatial};
    CHECK(images.count() > 1 && momentum >= 0 && momentum <= 1 && eps >= 0);
    const Training t{input, weight, bias, output, mean, rstd, running_mean, running_var, momentum, eps};
    training_kernel<<<blocks_for(channels, 1), NORM_THREADS, 0, stream_of(stream)>>>(t, images);
    return launched();
}

int32_t cuda_batchnorm_evaluation(const float* input, const float* weight, const float* bias, const float* running_mean,
                                  const float* running_var, float* output, int batch, int channels, int spatial,
                                  float eps, void* stream) {
    CHECK_ARRAY(input, batch, channels, spatial);
    CHECK_ARRAY(weight, channels);
    CHECK_ARRAY(bias, channels);
    CHECK_ARRAY(running_mean, channels);
    CHECK_ARRAY(running_var, channels);
    CHECK_ARRAY(output, batch, channels, spatial);
    CHECK(eps >= 0);
    constexpr int64_t EACH = 8, PARTS_AT_MOST = 256; /* elements of a thread; blocks of a channel */
    const Images images{batch, channels, spatial};
    const int64_t parts = min64(ceil_div(images.count(), NORM_THREADS * EACH), PARTS_AT_MOST);
    const dim3 grid(blocks_for(channels, 1), static_cast<unsigned>(parts));
    const Evaluation e{input, weight, bias, running_mean, running_var, output, eps};
    evaluation_kernel<<<grid, NORM_THREADS, 0, stream_of(stream)>>>(e, images);
    return launched();
}
