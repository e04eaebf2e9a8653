/* AdamW, and gradients set to zero. */
#include "buffers.h"
#include "lanes.h"

#include <math.h>
#include <string.h>

static struct adamw constants(float grad_scale, float lr, float beta1, float beta2, float eps, float weight_decay, int step) {
    return (struct adamw){grad_scale, lr, beta1, beta2, eps, weight_decay, (float)(1 / (1 - pow(beta1, step))),
                          (float)(1 / (1 - pow(beta2, step)))};
}

int32_t cuda_adamw_step(float* param, const float* grad, float* m, float* v, float lr, float beta1, float beta2, float eps,
                        float weight_decay, int step, int64_t size, void* stream) {
    (void)stream;
    CHECK_ARRAY(param, size);
    CHECK_ARRAY(grad, size);
    CHECK_ARRAY(m, size);
    CHECK_ARRAY(v, size);
    CHECK(adamw_constants_fit(lr, beta1, beta2, eps, step) && weight_decay >= 0);
    const struct adamw c = constants(1.0f, lr, beta1, beta2, eps, weight_decay, step);
    const struct lanes* const vectors = lanes();
    FOR_CHUNKS(size, at, length, vectors->adamw(length, &c, param + at, grad + at, m + at, v + at))
    return ASSAYER_OK;
}

int32_t cuda_multi_adamw(float* const* params, const float* const* grads, float* const* ms, float* const* vs, const int64_t* sizes,
                         const float* weight_decays, const float* grad_scale, int count, float lr, float beta1, float beta2,
                         float eps, int step, void* stream) {
    (void)stream;
    CHECK_ARRAY(params, count);
    CHECK_ARRAY(grads, count);
    CHECK_ARRAY(ms, count);
    CHECK_ARRAY(vs, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(weight_decays, count);
    CHECK_ARRAY(grad_scale, 1);
    CHECK(adamw_constants_fit(lr, beta1, beta2, eps, step));
    CHECK(buffers_fit((const float* const*)params, sizes, count) && buffers_fit(grads, sizes, count));
    CHECK(buffers_fit((const float* const*)ms, sizes, count) && buffers_fit((const float* const*)vs, sizes, count));
    const struct lanes* const vectors = lanes();
    const struct adamw shared = constants(grad_scale[0], lr, beta1, beta2, eps, 0.0f, step);
    const struct chunks list = cut_buffers(sizes, count);
    if (list.scratch.memory) {
        FOR_LISTED(list, part, {
            struct adamw own = shared;
            own.weight_decay = weight_decays[part->array];
            vectors->adamw(part->length, &own, params[part->array] + part->at, grads[part->array] + part->at,
                           ms[part->array] + part->at, vs[part->array] + part->at);
        })
    }
    scratch_give(list.scratch);
    return list.scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

int32_t cuda_zero_grad(float* grad, int64_t size, void* stream) {
    (void)stream;
    CHECK_ARRAY(grad, size);
    FOR_CHUNKS(size, at, length, memset(grad + at, 0, (size_t)length * sizeof(float)))
    return ASSAYER_OK;
}
