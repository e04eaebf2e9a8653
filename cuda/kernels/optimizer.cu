/* Updates of parameters, AdamW (Loshchilov and Hutter 2019) among them, and gradients set to zero. */
#include "lists.cuh"

#include <cmath>

namespace {

/* x: param, grad, m, v; y: param, m, v. */
struct AdamW {
    float lr, beta1, beta2, eps, weight_decay;
    float correction1, correction2; /* 1 / (1 - beta^step) */
    float grad_scale;

    __device__ void operator()(const float (&x)[4], float (&y)[3]) const {
        const float g = x[1] * grad_scale;
        y[1] = beta1 * x[2] + (1.0f - beta1) * g;
        y[2] = beta2 * x[3] + (1.0f - beta2) * g * g;
        y[0] = x[0] - lr * (y[1] * correction1 / (sqrtf(y[2] * correction2) + eps) + weight_decay * x[0]);
    }
};

AdamW adamw(float lr, float beta1, float beta2, float eps, float weight_decay, int step) {
    const auto correction = [=](float beta) {
        return static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(beta), step)));
    };
    return {lr, beta1, beta2, eps, weight_decay, correction(beta1), correction(beta2), 1.0f};
}

/* As AdamW, but that the decay is part of the gradient. */
struct Adam {
    AdamW update;
    float decay;

    __device__ void operator()(const float (&x)[4], float (&y)[3]) const {
        const float decayed[4] = {x[0], x[1] + decay * x[0], x[2], x[3]};
        update(decayed, y);
    }
};

/* x: param, grad; y: param. */
struct Sgd {
    float lr, decay;
    __device__ void operator()(const float (&x)[2], float (&y)[1]) const { y[0] = x[0] - lr * (x[1] + decay * x[0]); }
};

/* x: param, grad, velocity; y: param, velocity. */
template <bool NESTEROV> struct Momentum {
    float lr, momentum, decay;

    __device__ void operator()(const float (&x)[3], float (&y)[2]) const {
        const float g = x[1] + decay * x[0];
        y[1] = momentum * x[2] + g;
        y[0] = x[0] - lr * (NESTEROV ? g + momentum * y[1] : y[1]);
    }
};

/* Lists: params, grads, ms, vs, and more. */
template <int LISTS> __device__ void update_chunk(const Batch<LISTS>& batch, int i, int64_t at, AdamW& update) {
    float *const param = batch.arrays[0][i], *const m = batch.arrays[2][i], *const v = batch.arrays[3][i];
    update.weight_decay = batch.values[i];
    visit_chunk(Arrays<4, 3>{{param, batch.arrays[1][i], m, v}, {param, m, v}}, at, batch.sizes[i], update);
}

__global__ void __launch_bounds__(LIST_THREADS)
    multi_adamw_kernel(const Batch<4> batch, AdamW update, const float* grad_scale) {
    update.grad_scale = grad_scale[0];
    for (int64_t chunk = blockIdx.x; chunk < batch.chunks(); chunk += gridDim.x) {
        const int i = batch.array_of(chunk);
        update_chunk(batch, i, (chunk - batch.starts[i]) * CHUNK, update);
    }
}

/* Of each element of a chunk a copy in 16 bits, e counted in its array. */
template <typename Format> struct Rounding {
    uint64_t seed, own; /* own: the array's word */
    __device__ Format operator()(float x, int64_t e) const {
        return seed ? Format{Format::draw(x, static_cast<uint32_t>(random_word(own, e) >> 48))} : rounded<Format>(x);
    }
};

/* Elements [at, at + length) by the threads of a block: eight of a copy an access, where the arrays lie alike. */
template <typename Format>
__device__ void copy_chunk(const float* param, Format* copy, int64_t at, int64_t length, const Rounding<Format>& f) {
    constexpr int WIDTH = WHOLE<Format>;
    const Packs packs = packs_of(Arrays<1, 1, float, Format>{{param + at}, {copy + at}}, length);
    for (int64_t p = threadIdx.x; p < packs.count; p += LIST_THREADS) {
        const int64_t e = at + packs.first + WIDTH * p;
        const Pack<WIDTH> numbers = load_numbers<WIDTH>(param + e);
        Pack<WIDTH, Format> pack;
#pragma unroll
        for (int i = 0; i < WIDTH; i++) pack.at[i] = f(numbers.at[i], e + i);
        store_pack<WIDTH>(copy + e, pack);
    }
    for (int64_t i = threadIdx.x; i < length - WIDTH * packs.count; i += LIST_THREADS) {
        const int64_t e = at + (i < packs.first ? i : i + WIDTH * packs.count);
        copy[e] = f(param[e], e);
    }
}

/* The fifth list: copies.  What a block has updated it copies, while it is in the cache. */
template <typename Format>
__global__ void __launch_bounds__(LIST_THREADS)
    multi_adamw_copies_kernel(const Batch<5> batch, AdamW update, const float* grad_scale, uint64_t seed, int first) {
    update.grad_scale = grad_scale[0];
    for (int64_t chunk = blockIdx.x; chunk < batch.chunks(); chunk += gridDim.x) {
        const int i = batch.array_of(chunk);
        const int64_t at = (chunk - batch.starts[i]) * CHUNK;
        update_chunk(batch, i, at, update);
        __syncthreads();
        const Rounding<Format> f = {seed, random_word(seed, first + i)};
        copy_chunk(batch.arrays[0][i], reinterpret_cast<Format*>(batch.arrays[4][i]), at,
                   min64(CHUNK, batch.sizes[i] - at), f);
    }
}

template <typename Format>
int32_t update_with_copies(Format, float* const* params, const float* const* grads, float* const* ms, float* const* vs,
                           half_bits* const* copies, const int64_t* sizes, const float* weight_decays,
                           const float* grad_scale, int count, const AdamW& update, uint64_t seed, void* stream) {
    /* grads are only read, copies are not float: a batch has one type of address. */
    float* const* const lists[] = {params, const_cast<float* const*>(grads), ms, vs,
                                   reinterpret_cast<float* const*>(copies)};
    int first = 0;
    return for_batches(lists, sizes, weight_decays, count, [&](const Batch<5>& batch, int64_t) {
        multi_adamw_copies_kernel<Format>
            <<<blocks_of(batch), LIST_THREADS, 0, stream_of(stream)>>>(batch, update, grad_scale, seed, first);
        first += batch.count;
        return launched();
    });
}

} // namespace

int32_t cuda_adamw_step(float* param, const float* grad, float* m, float* v, float lr, float beta1, float beta2,
                        float eps, float weight_decay, int step, int64_t size, void* stream) {
    CHECK_ARRAY(param, size);
    CHECK_ARRAY(grad, size);
    CHECK_ARRAY(m, size);
    CHECK_ARRAY(v, size);
    CHECK(adamw_constants_fit(lr, beta1, beta2, eps, step) && weight_decay >= 0);
    return map(Arrays<4, 3>{{param, grad, m, v}, {param, m, v}}, size, adamw(lr, beta1, beta2, eps, weight_decay, step),
               stream);
}

int32_t cuda_sgd_step(float* param, const float* grad, float lr, float weight_decay, int64_t size, void* stream) {
    CHECK_ARRAY(param, size);
    CHECK_ARRAY(grad, size);
    CHECK(lr >= 0 && weight_decay >= 0);
    return map(Arrays<2, 1>{{param, grad}, {param}}, size, Sgd{lr, weight_decay}, stream);
}

int32_t cuda_momentum_step(float* param, const float* grad, float* velocity, float lr, float momentum,
                           float weight_decay, int nesterov, int64_t size, void* stream) {
    CHECK_ARRAY(param, size);
    CHECK_ARRAY(grad, size);
    CHECK_ARRAY(velocity, size);
    CHECK(momentum_constants_fit(lr, momentum, weight_decay, nesterov));
    const Arrays<3, 2> arrays = {{param, grad, velocity}, {param, velocity}};
    if (nesterov) return map(arrays, size, Momentum<true>{lr, momentum, weight_decay}, stream);
    return map(arrays, size, Momentum<false>{lr, momentum, weight_decay}, stream);
}

int32_t cuda_adam_step(float* param, const float* grad, float* m, float* v, float lr, float beta1, float beta2,
                       float eps, float weight_decay, int step, int64_t size, void* stream) {
    CHECK_ARRAY(param, size);
    CHECK_ARRAY(grad, size);
    CHECK_ARRAY(m, size);
    CHECK_ARRAY(v, size);
    CHECK(adamw_constants_fit(lr, beta1, beta2, eps, step) && weight_decay >= 0);
    const Adam update = {adamw(lr, beta1, beta2, eps, 0.0f, step), weight_decay};
    return map(Arrays<4, 3>{{param, grad, m, v}, {param, m, v}}, size, update, stream);
}

#define CHECK_LISTS                                                                                                    \
    CHECK_ARRAY(params, count);                                                                                        \
    CHECK_ARRAY(grads, count);                                                                                         \
    CHECK_ARRAY(ms, count);                                                                                            \
    CHECK_ARRAY(vs, count);                                                                                            \
    CHECK_ARRAY(sizes, count);                                                                                         \
    CHECK_ARRAY(weight_decays, count);                                                                                 \
    CHECK_ARRAY(grad_scale, 1);                                                                                        \
    CHECK(adamw_constants_fit(lr, beta1, beta2, eps, step));                                                           \
    CHECK(buffers_fit(params, sizes, count) && buffers_fit(grads, sizes, count));                                      \
    CHECK(buffers_fit(ms, sizes, count) && buffers_fit(vs, sizes, count))

int32_t cuda_multi_adamw(float* const* params, const float* const* grads, float* const* ms, float* const* vs,
                         const int64_t* sizes, const float* weight_decays, const float* grad_scale, int count, float lr,
                         float beta1, float beta2, float eps, int step, void* stream) {
    CHECK_LISTS;
    const AdamW update = adamw(lr, beta1, beta2, eps, 0.0f, step);
    float* const* const lists[] = {params, const_cast<float* const*>(grads), ms, vs}; /* grads are only read */
    return for_batches(lists, sizes, weight_decays, count, [=](const Batch<4>& batch, int64_t) {
        multi_adamw_kernel<<<blocks_of(batch), LIST_THREADS, 0, stream_of(stream)>>>(batch, update, grad_scale);
        return launched();
    });
}

#define MULTI_ADAMW_WITH_COPIES(suffix, format)                                                                        \
    int32_t cuda_multi_adamw_##suffix(float* const* params, const float* const* grads, float* const* ms,               \
                                      float* const* vs, half_bits* const* copies, const int64_t* sizes,                \
                                      const float* weight_decays, const float* grad_scale, int count, float lr,        \
                                      float beta1, float beta2, float eps, int step, uint64_t seed, void* stream) {    \
        CHECK_LISTS;                                                                                                   \
        CHECK_ARRAY(copies, count);                                                                                    \
        for (int i = 0; i < count; i++) CHECK(copies[i]);                                                              \
        return update_with_copies(format{}, params, grads, ms, vs, copies, sizes, weight_decays, grad_scale, count,    \
                                  adamw(lr, beta1, beta2, eps, 0.0f, step), seed, stream);                             \
    }
MULTI_ADAMW_WITH_COPIES(bf16, Bf16)
MULTI_ADAMW_WITH_COPIES(fp16, Fp16)

int32_t cuda_zero_grad(float* grad, int64_t size, void* stream) {
    CHECK_ARRAY(grad, size);
    return code_of(cudaMemsetAsync(grad, 0, static_cast<size_t>(size) * sizeof(float), stream_of(stream)));
}
