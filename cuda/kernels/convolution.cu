/* Convolutions as products of which one factor is looked up; gradients of weights are cut into parts of the outputs,
 * which are then added in order. */
#include "convolution.cuh"

#include "rows.cuh"
#include "scratch.cuh"

namespace {

/* output[:, group] = weight[group] . windows + bias; a member is a group, a column an output of any sample. */
struct Forward {
    const float *input, *weight, *bias;
    float* output;
    Planes p;
    int64_t batch;
    int members;

    __host__ __device__ int64_t rows() const { return p.out_group; }
    __host__ __device__ int64_t columns() const { return batch * p.out_plane(); }
    __device__ Factor<true, false> a(int64_t group) const {
        const int depth = p.in_group * p.taps();
        return {weight + group * p.out_group * depth, depth, p.out_group, depth};
    }
    __device__ Gathered<WindowsByOutput> b(int64_t group) const {
        const InputPlanes planes = {input + group * p.in_group * p.in_plane(), p, 0};
        return {{planes}, columns(), p.in_group * p.taps()};
    }
    __device__ float* column(int64_t group, int64_t number) const {
        const int64_t sample = number / p.out_plane(), place = number % p.out_plane();
        return output + (sample * p.out_channels + group * p.out_group) * p.out_plane() + place;
    }
    __device__ void store(int64_t group, int64_t row, float* column, float sum) const {
        column[row * p.out_plane()] = bias ? sum + bias[group * p.out_group + row] : sum;
    }
};

/* d_input[:, group] = weight[group]^T . what each place hands on; a column is a place of any sample. */
struct BackwardInput {
    const float *weight, *d_output;
    float* d_input;
    Planes p;
    int64_t batch;
    int members;

    __host__ __device__ int64_t rows() const { return p.in_group; }
    __host__ __device__ int64_t columns() const { return batch * p.in_plane(); }
    __device__ Gathered<WeightsByChannel> a(int64_t group) const {
        const int depth = p.out_group * p.taps();
        return {{weight + group * depth * p.in_group, p.taps(), p.in_group}, p.in_group, depth};
    }
    __device__ Gathered<OutputsByPlace> b(int64_t group) const {
        return {{d_output + group * p.out_group * p.out_plane(), p}, columns(), p.out_group * p.taps()};
    }
    __device__ float* column(int64_t group, int64_t number) const {
        const int64_t sample = number / p.in_plane(), place = number % p.in_plane();
        return d_input + (sample * p.in_channels + group * p.in_group) * p.in_plane() + place;
    }
    __device__ void store(int64_t, int64_t row, float* column, float sum) const { column[row * p.in_plane()] = sum; }
};

/* sums[part, group] = d_output[group] . windows^T over a part of the outputs; a member is a group of a part. */
struct BackwardWeight {
    const float *input, *d_output;
    float* sums;
    Planes p;
    int64_t outputs, part; /* of all samples, and of one part */
    int members, groups;

    __host__ __device__ int64_t rows() const { return p.out_group; }
    __host__ __device__ int64_t columns() const { return int64_t{p.in_group} * p.taps(); }
    __device__ int depth(int64_t member) const {
        return static_cast<int>(min64(part, outputs - member / groups * part));
    }
    __device__ Gathered<OutputsByFilter> a(int64_t member) const {
        const float* const planes = d_output + member % groups * p.out_group * p.out_plane();
        return {{planes, p.out_plane(), member / groups * part, p.out_channels}, p.out_group, depth(member)};
    }
    __device__ Gathered<WindowsByTap> b(int64_t member) const {
        const InputPlanes planes = {input + member % groups * p.in_group * p.in_plane(), p, member / groups * part};
        return {{planes}, columns(), depth(member)};
    }
    __device__ float* column(int64_t member, int64_t number) const {
        return sums + member * p.out_group * columns() + number;
    }
    __device__ void store(int64_t, int64_t row, float* column, float sum) const { column[row * columns()] = sum; }
};

template <typename Shape, typename Job>
__global__ void __launch_bounds__(Shape::THREADS, 1) convolution_kernel(Job job) {
    const int64_t across = ceil_div(job.columns(), Shape::COLUMNS), down = ceil_div(job.rows(), Shape::ROWS);
    const int64_t tile = blockIdx.x / across, member = tile / down;
    const int64_t row = tile % down * Shape::ROWS, column = blockIdx.x % across * Shape::COLUMNS;
    Outputs<Shape> outputs;
    outputs.fill(0.0f);
    multiply_tile(job.a(member), job.b(member), row, column, outputs);
#pragma unroll
    for (int c = 0; c < BLOCK_COLUMNS; c++) {
        const int64_t number = column + outputs.column(c);
        if (number >= job.columns()) continue;
        float* const to = job.column(member, number);
#pragma unroll
        for (int r = 0; r < BLOCK_ROWS; r++) {
            const int64_t line = row + outputs.row(r);
            if (line < job.rows()) job.store(member, line, to, outputs.sums[r][c]);
        }
    }
}

template <typename Shape, typename Job> int32_t launch_tiles(const Job& job, void* stream) {
    const int64_t tiles = ceil_div(job.columns(), Shape::COLUMNS) * ceil_div(job.rows(), Shape::ROWS);
    if (tiles > INT32_MAX / job.members) return ASSAYER_UNSUPPORTED; /* past a grid's first axis */
    const unsigned blocks = blocks_for(tiles * job.members, 1);
    convolution_kernel<Shape><<<blocks, Shape::THREADS, 0, stream_of(stream)>>>(job);
    return launched();
}

template <typename Job> int32_t launch(const Job& job, void* stream) {
    if (job.rows() > 32) return launch_tiles<TileShape<64, 64>>(job, stream);
    return launch_tiles<TileShape<32, 64>>(job, stream);
}

/* False where a place of a plane with its padding, or a sum's depth, is past int. */
bool places_fit(const sizes& s) {
    const int64_t taps = s.kernel_h * s.kernel_w, most = INT32_MAX - DEPTH * 64;
    const int64_t in_group = s.in_channels / s.groups, out_group = s.out_channels / s.groups;
    return s.height + 2 * s.pad_h <= INT32_MAX && s.width + 2 * s.pad_w <= INT32_MAX && taps <= most / in_group &&
           taps <= most / out_group && out_w(&s) <= INT32_MAX / out_h(&s) && s.width <= INT32_MAX / s.height;
}

Planes planes_of(const sizes& s) {
    const auto number = [](int64_t size) { return static_cast<int>(size); };
    return {number(s.height),
            number(s.width),
            number(s.kernel_h),
            number(s.kernel_w),
            number(s.stride_h),
            number(s.stride_w),
            number(s.pad_h),
            number(s.pad_w),
            number(s.dilation_h),
            number(s.dilation_w),
            number(out_h(&s)),
            number(out_w(&s)),
            number(s.in_channels),
            number(s.out_channels),
            number(s.in_channels / s.groups),
            number(s.out_channels / s.groups)};
}

/* d_weight = beta * d_weight + the parts' sums, in their order. */
__global__ void add_weight_parts_kernel(const float* sums, int64_t size, int parts, float beta, float* d_weight) {
    const int64_t stride = int64_t{gridDim.x} * blockDim.x;
    for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
        float sum = sums[i];
        for (int part = 1; part < parts; part++) sum += sums[part * size + i];
        d_weight[i] = beta == 0.0f ? sum : sum + beta * d_weight[i];
    }
}

/* Parts enough for the tiles of all to fill a device, none short; as many whatever the device. */
int64_t parts_for(int64_t tiles, int64_t outputs) {
    constexpr int64_t BLOCKS = 512, LEAST = 256, LONGEST = 1 << 30;
    const int64_t wished = min64(ceil_div(BLOCKS, tiles), ceil_div(outputs, LEAST)), due = ceil_div(outputs, LONGEST);
    return wished > due ? wished : due;
}

constexpr int THREADS = 256;

/* The sum of a channel's gradients: its team is a warp where they are few, else a block. */
template <typename L>
__global__ void __launch_bounds__(L::BLOCK)
    bias_kernel(const float* d_output, float* d_bias, int64_t batch, int64_t channels, int64_t plane, float beta) {
    const int64_t channel = L::team();
    if (channel >= channels) return;
    float sum = 0.0f;
    for (int64_t i = L::member(); i < batch * plane; i += L::THREADS)
        sum += d_output[(i / plane * channels + channel) * plane + i % plane];
    sum = team_sum<L::THREADS>(sum);
    if (L::member() == 0) d_bias[channel] = beta == 0.0f ? sum : sum + beta * d_bias[channel];
}

template <int TEAM>
int32_t launch_bias(const float* d_output, float* d_bias, int64_t batch, int64_t channels, int64_t plane, float beta,
                    void* stream) {
    using L = RowLayout<TEAM, 1, 1>;
    bias_kernel<L><<<blocks_for(channels, L::TEAMS), L::BLOCK, 0, stream_of(stream)>>>(d_output, d_bias, batch,
                                                                                       channels, plane, beta);
    return launched();
}

} // namespace

int32_t cuda_conv2d(const float* input, const float* weight, const float* bias, float* output, int batch,
                    int in_channels, int height, int width, int out_channels, int kernel_h, int kernel_w, int stride_h,
                    int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, int has_bias,
                    void* stream) {
    const sizes s = SIZES;
    CHECK(sizes_make_sense(&s));
    CHECK_INPUT(input, &s);
    CHECK_WEIGHT(weight, &s);
    CHECK_ARRAY_IF(has_bias != 0, bias, out_channels);
    CHECK_OUTPUT(output, &s);
    if (!places_fit(s)) return ASSAYER_UNSUPPORTED;
    const Forward job = {input, weight, has_bias ? bias : nullptr, output, planes_of(s), batch, groups};
    return launch(job, stream);
}

int32_t cuda_conv2d_backward_input(const float* weight, const float* d_output, float* d_input, int batch,
                                   int in_channels, int height, int width, int out_channels, int kernel_h, int kernel_w,
                                   int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w,
                                   int groups, void* stream) {
    const sizes s = SIZES;
    CHECK(sizes_make_sense(&s));
    CHECK_WEIGHT(weight, &s);
    CHECK_OUTPUT(d_output, &s);
    CHECK_INPUT(d_input, &s);
    if (!places_fit(s)) return ASSAYER_UNSUPPORTED;
    const BackwardInput job = {weight, d_output, d_input, planes_of(s), batch, groups};
    return launch(job, stream);
}

int32_t cuda_conv2d_backward_weight(const float* input, const float* d_output, float* d_weight, int batch,
                                    int in_channels, int height, int width, int out_channels, int kernel_h,
                                    int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h,
                                    int dilation_w, int groups, float beta, void* stream) {
    const sizes s = SIZES;
    CHECK(sizes_make_sense(&s));
    CHECK_INPUT(input, &s);
    CHECK_OUTPUT(d_output, &s);
    CHECK_WEIGHT(d_weight, &s);
    if (!places_fit(s)) return ASSAYER_UNSUPPORTED;
    BackwardWeight job = {input, d_output, nullptr, planes_of(s), 0, 0, groups, groups};
    job.outputs = batch * job.p.out_plane();
    const int64_t size = out_channels * job.columns();
    const int64_t parts = parts_for(ceil_div(job.columns(), 64) * ceil_div(job.rows(), 64) * groups, job.outputs);
    job.part = ceil_div(job.outputs, parts);
    const int count = static_cast<int>(ceil_div(job.outputs, job.part));
    if (groups > INT32_MAX / count) return ASSAYER_UNSUPPORTED;
    job.members = groups * count;
    const Scratch scratch(count * size * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    job.sums = scratch.as<float>();
    TRY(launch(job, stream));
    add_weight_parts_kernel<<<blocks_for(size, THREADS), THREADS, 0, stream_of(stream)>>>(job.sums, size, count, beta,
                                                                                          d_weight);
    return launched();
}

int32_t cuda_conv2d_backward_bias(const float* d_output, float* d_bias, int batch, int out_channels, int out_h,
                                  int out_w, float beta, void* stream) {
    CHECK_ARRAY(d_output, batch, out_channels, out_h, out_w);
    CHECK_ARRAY(d_bias, out_channels);
    const int64_t plane = int64_t{out_h} * out_w;
    constexpr int64_t FEW = 1024;
    return batch * plane <= FEW ? launch_bias<WARP>(d_output, d_bias, batch, out_channels, plane, beta, stream)
                                : launch_bias<THREADS>(d_output, d_bias, batch, out_channels, plane, beta, stream);
}
