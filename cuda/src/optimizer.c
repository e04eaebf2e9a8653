/* AdamW, clipping, and sums over many buffers. */
#include "check.h"
#include "lanes.h"
#include "parallel.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

static bool adamw_constants_fit(float lr, float beta1, float beta2, float eps, int step) {
    return lr >= 0 && beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1 && eps >= 0 && step >= 1;
}

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

/* count host pointers, none null, with count sizes. */
static bool arrays_fit(const float* const* arrays, const int64_t* sizes, int count) {
    for (int i = 0; i < count; i++)
        if (!arrays[i] || !array_fits(sizeof(float), 1, &sizes[i])) return false;
    return true;
}

/* Chunks of many buffers as one list, so that small buffers cost no more than their elements. */
struct chunk {
    int array;
    int64_t at, length;
};

struct chunks {
    struct scratch scratch; /* memory: the list; null where there was none */
    int64_t count;
    double elements; /* a sum of sizes may pass int64_t */
};

static struct chunks cut(const int64_t* sizes, int count) {
    int64_t total = 0;
    double elements = 0;
    for (int i = 0; i < count; i++) {
        total += ceil_div(sizes[i], CHUNK);
        elements += (double)sizes[i];
    }
    const struct chunks list = {scratch_take(total, sizeof(struct chunk)), total, elements};
    struct chunk* next = list.scratch.memory;
    for (int i = 0; next && i < count; i++)
        for (int64_t at = 0; at < sizes[i]; at += CHUNK) *next++ = (struct chunk){i, at, min64(CHUNK, sizes[i] - at)};
    return list;
}

#define FOR_LISTED(list, name, ...)                                                                                        \
    PARALLEL_FOR((list).elements >= SERIAL_BELOW)                                                                          \
    for (int64_t index_ = 0; index_ < (list).count; index_++) {                                                            \
        const struct chunk* const name = (const struct chunk*)(list).scratch.memory + index_;                              \
        __VA_ARGS__;                                                                                                       \
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
    CHECK(arrays_fit((const float* const*)params, sizes, count) && arrays_fit(grads, sizes, count));
    CHECK(arrays_fit((const float* const*)ms, sizes, count) && arrays_fit((const float* const*)vs, sizes, count));
    const struct lanes* const vectors = lanes();
    const struct adamw shared = constants(grad_scale[0], lr, beta1, beta2, eps, 0.0f, step);
    const struct chunks list = cut(sizes, count);
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

/* The sum over every listed chunk, in the order of the list; negative where there was no memory. */
static double sum_squares(const float* const* inputs, const int64_t* sizes, int count) {
    const struct lanes* const vectors = lanes();
    const struct chunks list = cut(sizes, count);
    const struct scratch sums = scratch_take(list.count, sizeof(double));
    double total = -1;
    if (list.scratch.memory && sums.memory) {
        double* const parts = sums.memory;
        FOR_LISTED(list, part, {
            const float* const x = inputs[part->array] + part->at;
            parts[index_] = vectors->dot(part->length, x, x);
        })
        total = 0;
        for (int64_t i = 0; i < list.count; i++) total += parts[i];
    }
    scratch_give(sums);
    scratch_give(list.scratch);
    return total;
}

int32_t cuda_grad_clip(float* grad, float* partial_norms, float* total_norm, float clip_norm, int64_t size, void* stream) {
    (void)stream;
    CHECK_ARRAY(grad, size);
    CHECK_ARRAY(partial_norms, ceil_div(size, 256));
    CHECK_ARRAY(total_norm, 1);
    CHECK(clip_norm > 0);
    const double total = sum_squares((const float* const[]){grad}, &size, 1);
    if (total < 0) return ASSAYER_NO_MEMORY;
    const double norm = sqrt(total);
    total_norm[0] = (float)norm;
    if (norm > clip_norm) {
        const struct lanes* const vectors = lanes();
        const float factor = (float)(clip_norm / norm);
        FOR_CHUNKS(size, at, length, vectors->scale(length, grad + at, factor, grad + at))
    }
    return ASSAYER_OK;
}

int32_t cuda_multi_sum_squares(const float* const* inputs, const int64_t* sizes, float* sum_squares_out, int count, void* stream) {
    (void)stream;
    CHECK_ARRAY(inputs, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(sum_squares_out, 1);
    CHECK(arrays_fit(inputs, sizes, count));
    const double total = sum_squares(inputs, sizes, count);
    if (total < 0) return ASSAYER_NO_MEMORY;
    sum_squares_out[0] = (float)total;
    return ASSAYER_OK;
}

int32_t cuda_clip_scale(const float* sum_squares, float* total_norm, float* scale, float clip_norm, void* stream) {
    (void)stream;
    CHECK_ARRAY(sum_squares, 1);
    CHECK_ARRAY(total_norm, 1);
    CHECK_ARRAY(scale, 1);
    CHECK(clip_norm > 0);
    const float norm = sqrtf(sum_squares[0]);
    total_norm[0] = norm;
    scale[0] = norm > clip_norm ? clip_norm / norm : 1.0f;
    return ASSAYER_OK;
}

int32_t cuda_multi_scale(float* const* arrays, const int64_t* sizes, const float* scale, int count, void* stream) {
    (void)stream;
    CHECK_ARRAY(arrays, count);
    CHECK_ARRAY(sizes, count);
    CHECK_ARRAY(scale, 1);
    CHECK(arrays_fit((const float* const*)arrays, sizes, count));
    const struct lanes* const vectors = lanes();
    const float factor = scale[0];
    const struct chunks list = cut(sizes, count);
    if (list.scratch.memory) {
        FOR_LISTED(list, part, {
            float* const x = arrays[part->array] + part->at;
            vectors->scale(part->length, x, factor, x);
        })
    }
    scratch_give(list.scratch);
    return list.scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}
