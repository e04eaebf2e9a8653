/* The gradient of batch norm: a block sums a channel, and goes over it once more for d_input. */
#include "batchnorm.cuh"

namespace {

struct Backward {
    const float *x, *weight, *mean, *rstd, *d_output;
    float *d_input, *d_weight, *d_bias;
    float beta;
};

__device__ void add_to(float* gradient, float sum, float beta) {
    *gradient = beta == 0.0f ? sum : beta * *gradient + sum;
}

__device__ void channel_gradient(const Backward& b, const Images& images, int64_t channel) {
    const float mean = b.mean[channel], rstd = b.rstd[channel], count = static_cast<float>(images.count());
    const float of_dy = channel_sum(images, channel, [&](int64_t at) { return b.d_output[at]; });
    const float of_product =
        channel_sum(images, channel, [&](int64_t at) { return b.d_output[at] * ((b.x[at] - mean) * rstd); });
    if (threadIdx.x == 0) {
        add_to(b.d_weight + channel, of_product, b.beta);
        add_to(b.d_bias + channel, of_dy, b.beta);
    }
    const float scale = b.weight[channel] * rstd, mean_dy = of_dy / count, mean_product = of_product / count;
    for (ChannelWalk walk(images, channel, 0, 1); !walk.ended(); walk.next()) {
        const float h = (b.x[walk.at()] - mean) * rstd;
        b.d_input[walk.at()] = (b.d_output[walk.at()] - mean_dy - h * mean_product) * scale;
    }
}

__global__ void __launch_bounds__(NORM_THREADS) backward_kernel(Backward b, Images images) {
    for (int64_t channel = blockIdx.x; channel < images.channels; channel += gridDim.x)
        channel_gradient(b, images, channel);
}

} // namespace

int32_t cuda_batchnorm_backward(const float* input, const float* weight, const float* mean, const float* rstd,
                                const float* d_output, float* d_input, float* d_weight, float* d_bias, int batch,
                                int channels, int spatial, float beta, void* stream) {
    CHECK_ARRAY(input, batch, channels, spatial);
    CHECK_ARRAY(weight, channels);
    CHECK_ARRAY(mean, channels);
    CHECK_ARRAY(rstd, channels);
    CHECK_ARRAY(d_output, batch, channels, spatial);
    CHECK_ARRAY(d_input, batch, channels, spatial);
    CHECK_ARRAY(d_weight, channels);
    CHECK_ARRAY(d_bias, channels);
    const Backward b{input, weight, mean, rstd, d_output, d_input, d_weight, d_bias, beta};
    const Images images{batch, channels, spatial};
    backward_kernel<<<blocks_for(channels, 1), NORM_THREADS, 0, stream_of(stream)>>>(b, images);
    return launched();
}
