/* Updates of parameters, and gradients set to zero. */
#include "buffers.h"
#include "simd.h"
#include "random.h"

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
    const struct simd* const vectors = simd();
    FOR_CHUNKS(size, at, length, vectors->adamw(length, &c, param + at, grad + at, m + at, v + at))
    return ASSAYER_OK;
}

int32_t cuda_sgd_step(float* param, const float* grad, float lr, float weight_decay, int64_t size, void* stream) {
    (void)stream;
    CHECK_ARRAY(param, size);
    CHECK_ARRAY(grad, size);
    CHECK(lr >= 0 && weight_decay >= 0);
    const struct simd* const vectors = simd();
    FOR_CHUNKS(size, at, length, vectors->sgd(length, lr, weight_decay, param + at, grad + at))
    return ASSAYER_OK;
}

int32_t cuda_momentum_step(float* param, const float* grad, float* velocity, float lr, float momentum, float weight_decay,
                           int nesterov, int64_t size, void* stream) {
    (void)stream;
    CHECK_ARRAY(param, size);
    CHECK_ARRAY(grad, size);
    CHECK_ARRAY(velocity, size);
    CHECK(momentum_constants_fit(lr, momentum, weight_decay, nesterov));
    const struct momentum c = {lr, momentum, weight_decay, nesterov};
    const struct simd* const vectors = simd();
    FOR_CHUNKS(size, at, length, vectors->momentum(length, &c, param + at, grad + at, velocity + at))
    return ASSAYER_OK;
}

int32_t cuda_adam_step(float* param, const float* grad, float* m, float* v, float lr, float beta1, float beta2, float eps,
                       float weight_decay, int step, int64_t size, void* stream) {
    (void)stream;
    CHECK_ARRAY(param, size);
    CHECK_ARRAY(grad, size);
    CHECK_ARRAY(m, size);
    CHECK_ARRAY(v, size);
    CHECK(adamw_constants_fit(lr, beta1, beta2, eps, step) && weight_decay >= 0);
    const struct adamw c = constants(1.0f, lr, beta1, beta2, eps, weight_decay, step);
    const struct simd* const vectors = simd();
    FOR_CHUNKS(size, at, length, vectors->adam(length, &c, param + at, grad + at, m + at, v + at))
    return ASSAYER_OK;
}

/* Lists of arrays, and copies of the parameters in 16 bits; null: none. */
struct update {
    float* const* params;
    const float* const* grads;
    float *const *ms, *const *vs;
    uint16_t* const* copies;
    const int64_t* sizes;
    const float* weight_decays;
    int count;
};

static bool update_fits(const struct update* u) {
    for (int i = 0; u->copies && i < u->count; i++)
        if (!u->copies[i]) return false;
    return buffers_fit((const float* const*)u->params, u->sizes, u->count) &&
           buffers_fit(u->grads, u->sizes, u->count) &&
           buffers_fit((const float* const*)u->ms, u->sizes, u->count) &&
           buffers_fit((const float* const*)u->vs, u->sizes, u->count);
}

/* What was just updated of an array is still in the cache when it is copied. */
static void copy_part(const struct half* format, const struct update* u, const struct chunk* part, uint64_t seed) {
    const float* const from = u->params[part->array] + part->at;
    uint16_t* const to = u->copies[part->array] + part->at;
    if (seed) format->draw(part->length, from, random_word(seed, part->array), part->at, to);
    else format->narrow(part->length, from, to);
}

/* So many parameters at a time: what is read and written of them stays in the first-level cache until they are copied. */
enum { UPDATED_TOGETHER = 256 };

static void update_part(const struct update* u, const struct adamw* own, const struct chunk* part, const struct half* format,
                        uint64_t seed) {
    for (int64_t done = 0; done < part->length; done += UPDATED_TOGETHER) {
        const struct chunk few = {part->array, part->at + done, min64(UPDATED_TOGETHER, part->length - done)};
        simd()->adamw(few.length, own, u->params[few.array] + few.at, u->grads[few.array] + few.at, u->ms[few.array] + few.at,
                      u->vs[few.array] + few.at);
        if (u->copies) copy_part(format, u, &few, seed);
    }
}

static int32_t update_all(const struct update* u, struct adamw shared, const struct half* format, uint64_t seed) {
    const struct chunks list = cut_buffers(u->sizes, u->count);
    if (list.scratch.memory) {
        FOR_LISTED(list, part, {
            struct adamw own = shared;
            own.weight_decay = u->weight_decays[part->array];
            update_part(u, &own, part, format, seed);
        })
    }
    scratch_give(list.scratch);
    return list.scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

#define CHECK_LISTS                                                                                                    \
    CHECK_ARRAY(params, count);                                                                                        \
    CHECK_ARRAY(grads, count);                                                                                         \
    CHECK_ARRAY(ms, count);                                                                                            \
    CHECK_ARRAY(vs, count);                                                                                            \
    CHECK_ARRAY(sizes, count);                                                                                         \
    CHECK_ARRAY(weight_decays, count);                                                                                 \
    CHECK_ARRAY(grad_scale, 1);                                                                                        \
    CHECK(adamw_constants_fit(lr, beta1, beta2, eps, step))

int32_t cuda_multi_adamw(float* const* params, const float* const* grads, float* const* ms, float* const* vs,
                         const int64_t* sizes, const float* weight_decays, const float* grad_scale, int count, float lr,
                         float beta1, float beta2, float eps, int step, void* stream) {
    (void)stream;
    CHECK_LISTS;
    const struct update u = {params, grads, ms, vs, NULL, sizes, weight_decays, count};
    CHECK(update_fits(&u));
    return update_all(&u, constants(grad_scale[0], lr, beta1, beta2, eps, 0.0f, step), NULL, 0);
}

#define MULTI_ADAMW_WITH_COPIES(format)                                                                                \
    int32_t cuda_multi_adamw_##format(float* const* params, const float* const* grads, float* const* ms,               \
                                      float* const* vs, uint16_t* const* copies, const int64_t* sizes,                 \
                                      const float* weight_decays, const float* grad_scale, int count, float lr,        \
                                      float beta1, float beta2, float eps, int step, uint64_t seed, void* stream) {    \
        (void)stream;                                                                                                  \
        CHECK_LISTS;                                                                                                   \
        CHECK_ARRAY(copies, count);                                                                                    \
        const struct update u = {params, grads, ms, vs, copies, sizes, weight_decays, count};                          \
        CHECK(update_fits(&u));                                                                                        \
        return update_all(&u, constants(grad_scale[0], lr, beta1, beta2, eps, 0.0f, step), &simd()->format, seed);    \
    }
MULTI_ADAMW_WITH_COPIES(bf16)
MULTI_ADAMW_WITH_COPIES(fp16)

int32_t cuda_zero_grad(float* grad, int64_t size, void* stream) {
    (void)stream;
    CHECK_ARRAY(grad, size);
    FOR_CHUNKS(size, at, length, memset(grad + at, 0, (size_t)length * sizeof(float)))
    return ASSAYER_OK;
}
