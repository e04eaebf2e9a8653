/* What every operation does first: look at its arguments.  A broken one returns ASSAYER_INVALID before anything is written. */
#ifndef ASSAYER_CHECK_H
#define ASSAYER_CHECK_H

#include "assayer.h"

#include <stdbool.h>
#include <stddef.h>

/* True where every size is at least 1 and the bytes of the array fit in int64_t: whole divisions chain, so no product
 * is formed that could overflow. */
static inline bool array_fits(size_t element, int axes, const int64_t* sizes) {
    int64_t room = INT64_MAX / (int64_t)element;
    for (int i = 0; i < axes; i++) {
        if (sizes[i] < 1) return false;
        room /= sizes[i];
    }
    return room >= 1;
}

#define CHECK(condition) do { if (!(condition)) return ASSAYER_INVALID; } while (0)

/* CHECK_ARRAY(pointer, size, ...): the header's SHAPE, checked. */
#ifdef __cplusplus
template <typename... Sizes> bool sizes_fit(size_t element, Sizes... sizes) {
    const int64_t list[] = {sizes...};
    return array_fits(element, sizeof...(sizes), list);
}
#define CHECK_ARRAY(pointer, ...) CHECK((pointer) && sizes_fit(sizeof *(pointer), __VA_ARGS__))
#else
#define CHECK_ARRAY(pointer, ...)                                                                                          \
    CHECK((pointer) && array_fits(sizeof *(pointer), sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                   \
                                  (const int64_t[]){__VA_ARGS__}))
#endif

/* Of an array that is read only where the condition holds, and may be null elsewhere. */
#define CHECK_ARRAY_IF(condition, pointer, ...) do { if (condition) CHECK_ARRAY(pointer, __VA_ARGS__); } while (0)

/* True where none of count arrays is null and each has a size that fits. */
static inline bool buffers_fit(const float* const* arrays, const int64_t* sizes, int count) {
    for (int i = 0; i < count; i++)
        if (!arrays[i] || !array_fits(sizeof(float), 1, &sizes[i])) return false;
    return true;
}

static inline bool adamw_constants_fit(float lr, float beta1, float beta2, float eps, int step) {
    return lr >= 0 && beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1 && eps >= 0 && step >= 1;
}

static inline bool momentum_constants_fit(float lr, float momentum, float weight_decay, int nesterov) {
    return lr >= 0 && momentum >= 0 && weight_decay >= 0 && nesterov >= 0 && nesterov <= 1;
}

/* Every value in [low, high): an index is looked at before it becomes an address. */
static inline bool all_within(const int32_t* values, int64_t n, int32_t low, int64_t high) {
    const int32_t last = high > INT32_MAX ? INT32_MAX : (int32_t)(high - 1);
    int outside = 0; /* 32 bits all through: compilers make vectors of this */
    for (int64_t i = 0; i < n; i++) outside |= (values[i] < low) | (values[i] > last);
    return !outside;
}

/* The offsets of n_experts runs ascend from 0 to rows. */
static inline bool offsets_fit(const int32_t* offsets, int n_experts, int rows) {
    bool fit = offsets[0] == 0 && offsets[n_experts] == rows;
    for (int e = 0; e < n_experts; e++) fit &= offsets[e] <= offsets[e + 1];
    return fit;
}

#endif
