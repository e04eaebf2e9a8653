/* Walks a channel of (batch, channels, spatial): a block of threads takes its numbers in order, which are runs of
 * `spatial` in every sample. */
#ifndef ASSAYER_BATCHNORM_CUH
#define ASSAYER_BATCHNORM_CUH

#include "launch.cuh"
#include "reduce.cuh"

constexpr int NORM_THREADS = 256;

struct Images {
    int batch, channels, spatial;
    __host__ __device__ int64_t count() const { return int64_t{batch} * spatial; } /* of a channel */
};

/* The numbers of a channel for one of `parts` blocks: begin at the first of this thread, and step to the next. */
class ChannelWalk {
public:
    __device__ ChannelWalk(const Images& images, int64_t channel, int64_t part, int64_t parts)
        : images_(images), channel_(channel), step_(parts * NORM_THREADS) {
        const int64_t start = part * NORM_THREADS + threadIdx.x;
        sample_ = start / images.spatial;
        place_ = start % images.spatial;
        samples_ = step_ / images.spatial;
        places_ = step_ % images.spatial;
    }
    __device__ bool ended() const { return sample_ >= images_.batch; }
    __device__ int64_t at() const { return (sample_ * images_.channels + channel_) * images_.spatial + place_; }
    __device__ void next() {
        sample_ += samples_;
        place_ += places_;
        if (place_ < images_.spatial) return;
        place_ -= images_.spatial;
        sample_++;
    }

private:
    const Images images_;
    const int64_t channel_, step_;
    int64_t sample_, place_, samples_, places_;
};

/* The sum of f(element) over a channel, for every thread of the block that takes all of it. */
template <typename Function> __device__ float channel_sum(const Images& images, int64_t channel, const Function& f) {
    float sum = 0.0f;
    for (ChannelWalk walk(images, channel, 0, 1); !walk.ended(); walk.next()) sum += f(walk.at());
    return team_sum<NORM_THREADS>(sum);
}

#endif
