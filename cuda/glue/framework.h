/* What stands between the header's operations on strided tensors and a framework's entry points: its operands as it has
 * them, and numbers that a narrower type does not hold.  conformance/frameworks/shim.py writes the functions that use it,
 * in C that is C++ too; conformance/frameworks/asked.py does the same in Python.  Names begin as no framework's do. */
#pragma once

#include <assayer.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 32, ALL_AXES = 2 * MOST_AXES + 1 }; /* the header's; with those that are added */

typedef __int128 wide; /* holds sums of products of two numbers of 64 bits */

/* A tensor as the framework has it. */
struct operand {
    int64_t lengths[ALL_AXES], strides[ALL_AXES];
    int64_t size, offset;
    int axes;
};

static inline struct operand shim_told(int axes, const int64_t* shape, const int64_t* strides, int64_t size, int64_t offset) {
    struct operand t;
    memset(&t, 0, sizeof t);
    t.axes = axes, t.size = size, t.offset = offset;
    for (int k = 0; k < axes; k++) t.lengths[k] = shape[k], t.strides[k] = strides[k];
    return t;
}

/* A product of two lengths; INT64_MAX where it is larger, as it may be beside an axis of length 0. */
static inline int64_t shim_times(int64_t a, int64_t b) {
    const wide product = (wide)a * b;
    return product > INT64_MAX ? INT64_MAX : (int64_t)product;
}

static inline int64_t shim_elements(const struct operand* t) {
    int64_t count = 1;
    for (int k = 0; k < t->axes; k++)
        if (t->lengths[k] == 0) return 0;
    for (int k = 0; k < t->axes; k++) count = shim_times(count, t->lengths[k]);
    return count;
}

static inline bool shim_is_dense(const struct operand* t) {
    if (!shim_elements(t)) return true;
    int64_t step = 1;
    for (int k = t->axes - 1; k >= 0; k--) {
        if (t->lengths[k] != 1 && t->strides[k] != step) return false;
        step = shim_times(step, t->lengths[k]);
    }
    return true;
}

/* A tensor of these lengths in a storage of its own. */
static inline struct operand shim_dense(int axes, const int64_t* lengths) {
    struct operand t;
    memset(&t, 0, sizeof t);
    t.axes = axes;
    int64_t step = 1;
    for (int k = axes - 1; k >= 0; k--) {
        t.lengths[k] = lengths[k], t.strides[k] = step;
        step = shim_times(step, lengths[k]);
    }
    t.size = shim_elements(&t);
    return t;
}

static inline void shim_add_axis(struct operand* t, int64_t length, int64_t stride) {
    t->lengths[t->axes] = length, t->strides[t->axes++] = stride;
}

/* Axes of length 1 before the first, up to `axes` of them. */
static inline void shim_pad(struct operand* t, int axes) {
    const int more = axes > t->axes ? axes - t->axes : 0;
    for (int k = t->axes - 1; more && k >= 0; k--) t->lengths[k + more] = t->lengths[k], t->strides[k + more] = t->strides[k];
    for (int k = 0; k < more; k++) t->lengths[k] = 1, t->strides[k] = 0;
    t->axes += more;
}

/* Length 1 where the tensor repeats, but for its last `whole` axes; such an axis has the stride of a dense tensor's. */
static inline void shim_shorten(struct operand* t, int whole) {
    int64_t step = 1;
    for (int k = t->axes - 1; k >= 0; k--) {
        if (k < t->axes - whole && t->lengths[k] > 1 && t->strides[k] == 0) t->lengths[k] = 1, t->strides[k] = step;
        step = shim_times(step, t->lengths[k]);
    }
}

/* A factor of a product, of axes .., M, N, K, as a matrix of the axes `rows` and `columns` of those three. */
static inline struct operand shim_matrix(const struct operand* t, int rows, int columns) {
    struct operand m = *t;
    const int first = t->axes - 3;
    m.axes = first;
    shim_add_axis(&m, t->lengths[first + rows], t->strides[first + rows]);
    shim_add_axis(&m, t->lengths[first + columns], t->strides[first + columns]);
    return m;
}

/* The product of the lengths of all axes but the last two. */
static inline int64_t shim_batch_of(const struct operand* t) {
    struct operand before = *t;
    before.axes -= 2;
    return shim_elements(&before);
}

/* The entries of a shape or of strides as numbers of a type, and one number; what it does not hold is not supported. */
#define UNSUPPORTED_UNLESS(condition) \
    if (!(condition)) return ASSAYER_UNSUPPORTED
#define ENTRIES(type, name, from, count, least, most) \
    type name[ALL_AXES]; \
    for (int at = 0; at < (count); at++) { \
        UNSUPPORTED_UNLESS((wide)(from)[at] >= (wide)(least) && (wide)(from)[at] <= (wide)(most)); \
        name[at] = (type)(from)[at]; \
    }
#define NUMBER(type, name, value, least, most) \
    const wide name##_value = (value); \
    UNSUPPORTED_UNLESS(name##_value >= (wide)(least) && name##_value <= (wide)(most)); \
    type name = (type)name##_value

/* A reduction of several axes, one at a time: what a pass over the others begins with. */
static inline float shim_nothing_joined(int function) {
    switch (function) {
        case ASSAYER_REDUCE_PRODUCT: return 1.0f;
        case ASSAYER_REDUCE_MAXIMUM: return -__builtin_inff();
        case ASSAYER_REDUCE_MINIMUM: return __builtin_inff();
        default: return 0.0f;
    }
}

typedef int32_t reduce_pass(const float*, float*, struct operand, struct operand, int, float);

/* One axis at a time, the last one first, each into a dense tensor but the last pass.  function: the header's number of it;
 * theirs: the framework's. */
static inline int32_t shim_reduced(reduce_pass* pass, const float* input, float* output, struct operand from,
                                   struct operand to, int function, int theirs, float start) {
    float* held = NULL;
    double joined = 1.0; /* numbers behind each one that the last pass joins: start is their mean's, too */
    int32_t code = ASSAYER_OK;
    if (from.axes == to.axes) shim_add_axis(&from, 1, 0);
    while (code == ASSAYER_OK && from.axes > to.axes + 1) {
        struct operand between = shim_dense(from.axes - 1, from.lengths);
        const size_t bytes = between.size > 0 ? (size_t)between.size * sizeof(float) : sizeof(float);
        float* const next = between.size > INT64_MAX / (int64_t)sizeof(float) ? NULL : (float*)malloc(bytes);
        code = next ? pass(held ? held : input, next, from, between, theirs, shim_nothing_joined(function)) : ASSAYER_NO_MEMORY;
        joined *= (double)from.lengths[from.axes - 1];
        free(held);
        held = next;
        from = between;
    }
    if (code == ASSAYER_OK) {
        const float begun = function == ASSAYER_REDUCE_MEAN && joined > 1.0 ? (float)(start / joined) : start;
        code = pass(held ? held : input, output, from, to, theirs, begun);
    }
    free(held);
    return code;
}
