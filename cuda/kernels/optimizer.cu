/* AdamW (Loshchilov and Hutter 2019), and gradients set to zero. */
#include "many.cuh"

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

/* Lists: params, grads, ms, vs. */
__global__ void __launch_bounds__(MANY_THREADS)
    multi_adamw_kernel(const Batch<4> batch, AdamW update, const float* grad_scale) {
    update.grad_scale = grad_scale[0];
    for (int64_t chunk = blockIdx.x; chunk < batch.chunks(); chunk += gridDim.x) {
        const int i = batch.array_of(chunk);
        float *const param = batch.arrays[0][i], *const m = batch.arrays[2][i], *const v = batch.arrays[3][i];
        update.weight_decay = batch.values[i];
        const Arrays<4, 3> arrays = {{param, batch.arrays[1][i], m, v}, {param, m, v}};
        visit_chunk(arrays, (chunk - batch.starts[i]) * CHUNK, batch.sizes[i], update);
    }
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

int32_t cuda_multi_adamw(float* const* params, const float* const* grads, float* const* ms, float* const* vs,
                         const int64_t* sizes, const float* weight_decays, const float* grad_scale, int count, float lr,
                         float beta1, float beta2, float eps, int step, void* stream) {
    CHECK_ARRAY(params, count);
    CHECK_ARRAY(grads, count);
    CHECK_ARRAY(ms, count);
    CHECK_ARRAY(vs, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(weight_decays, count);
    CHECK_ARRAY(grad_scale, 1);
    CHECK(adamw_constants_fit(lr, beta1, beta2, eps, step));
    CHECK(buffers_fit(params, sizes, count) && buffers_fit(grads, sizes, count));
    CHECK(buffers_fit(ms, sizes, count) && buffers_fit(vs, sizes, count));
    const AdamW update = adamw(lr, beta1, beta2, eps, 0.0f, step);
    float* const* const lists[] = {params, const_cast<float* const*>(grads), ms, vs}; /* grads are only read */
    return for_batches(lists, sizes, weight_decays, count, [=](const Batch<4>& batch, int64_t) {
        multi_adamw_kernel<<<blocks_of(batch), MANY_THREADS, 0, stream_of(stream)>>>(batch, update, grad_scale);
        return launched();
    });
}

int32_t cuda_zero_grad(float* grad, int64_t size, void* stream) {
    CHECK_ARRAY(grad, size);
    return code_of(cudaMemsetAsync(grad, 0, static_cast<size_t>(size) * sizeof(float), stream_of(stream)));
}
