/* Tensors of any layout: whether their elements lie in their storages, and the fewest axes that say where. */
#ifndef ASSAYER_STRIDES_H
#define ASSAYER_STRIDES_H

#include "check.h"

enum { MOST_AXES = 32, MOST_OPERANDS = 3 };

/* True where the storage is there, unless it has no element, and its bytes fit in int64_t. */
static inline bool storage_fits(const void* storage, int64_t size) {
    return size == 0 || (storage && array_fits(sizeof(float), 1, &size));
}

/* True where the lengths are 0 or more and make fewer than 2^63 elements; *count says how many. */
static inline bool count_elements(int axes, const int64_t* shape, int64_t* count) {
    int64_t room = INT64_MAX;
    *count = 1;
    for (int k = 0; k < axes; k++) {
        if (shape[k] < 0) return false;
        *count *= shape[k] > 0; /* 0 from here on */
    }
    for (int k = 0; k < axes && *count > 0; k++) room /= shape[k];
    if (room < 1) return false;
    for (int k = 0; k < axes; k++) *count *= shape[k];
    return true;
}

static inline uint64_t size_of_step(int64_t stride) { return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride; }

/* True where every element lies among the storage's places.  No reach is larger than the storage, so that nothing overflows. */
static inline bool lies_within(int axes, const int64_t* shape, const int64_t* strides, int64_t offset, int64_t size) {
    if (offset < 0 || offset >= size) return false;
    int64_t below = offset, above = size - 1 - offset; /* places left on either side */
    for (int k = 0; k < axes; k++) {
        if (shape[k] == 1) continue;
        int64_t* const left = strides[k] < 0 ? &below : &above;
        if (size_of_step(strides[k]) > (uint64_t)(*left / (shape[k] - 1))) return false;
        *left -= (shape[k] - 1) * (int64_t)size_of_step(strides[k]);
    }
    return true;
}

/* True where no two elements share a place (assayer.h: STRIDED); they lie in a storage. */
static inline bool lies_apart(int axes, const int64_t* shape, const int64_t* strides) {
    int64_t reach = 0;
    bool done[MOST_AXES] = {false};
    for (int left = axes; left > 0; left--) {
        int least = -1;
        for (int k = 0; k < axes; k++)
            if (!done[k] && (least < 0 || size_of_step(strides[k]) < size_of_step(strides[least]))) least = k;
        done[least] = true;
        if (shape[least] == 1) continue;
        const int64_t step = (int64_t)size_of_step(strides[least]);
        if (step <= reach) return false;
        reach += (shape[least] - 1) * step;
    }
    return true;
}

/* The header's STRIDED, checked: of a storage, and of a tensor with that shape in it. */
static inline bool strides_fit(const void* storage, int64_t size, int axes, const int64_t* shape, const int64_t* strides,
                               int64_t offset, bool written) {
    int64_t count;
    if (!storage_fits(storage, size) || !count_elements(axes, shape, &count)) return false;
    if (count == 0) return true;
    return lies_within(axes, shape, strides, offset, size) && (!written || lies_apart(axes, shape, strides));
}

/* Where the elements of several tensors of one shape lie: those of the first operand at offsets[0] + sum of i_k * strides[0][k]. */
struct layout {
    int axes;
    int64_t lengths[MOST_AXES];
    int64_t strides[MOST_OPERANDS][MOST_AXES];
    int64_t offsets[MOST_OPERANDS];
};

/* 0 where a length is, whatever the product of the others. */
static inline int64_t elements_of(const struct layout* l) {
    int64_t count = 1;
    for (int k = 0; k < l->axes; k++)
        if (l->lengths[k] == 0) return 0;
    for (int k = 0; k < l->axes; k++) count *= l->lengths[k];
    return count;
}

/* How far from the first element one lies that is so many elements on, counted with axis `first` the fastest. */
static inline int64_t steps_to(const struct layout* l, int operand, int first, int64_t number) {
    int64_t steps = 0;
    for (int k = first; k < l->axes; number /= l->lengths[k++]) steps += number % l->lengths[k] * l->strides[operand][k];
    return steps;
}

static inline void exchange_axes(struct layout* l, int operands, int j, int k) {
    const int64_t length = l->lengths[j];
    l->lengths[j] = l->lengths[k];
    l->lengths[k] = length;
    for (int o = 0; o < operands; o++) {
        const int64_t stride = l->strides[o][j];
        l->strides[o][j] = l->strides[o][k];
        l->strides[o][k] = stride;
    }
}

/* Turns about the axes along which the first operand descends. */
static inline void turn_descending_axes(struct layout* l, int operands) {
    for (int k = 0; k < l->axes; k++) {
        if (l->strides[0][k] >= 0) continue;
        for (int o = 0; o < operands; o++) {
            l->offsets[o] += (l->lengths[k] - 1) * l->strides[o][k];
            l->strides[o][k] = -l->strides[o][k];
        }
    }
}

/* Whether axis k goes on where axis k - 1 ends, for every operand. */
static inline bool continues(const struct layout* l, int operands, int k) {
    for (int o = 0; o < operands; o++)
        if (l->strides[o][k] != l->strides[o][k - 1] * l->lengths[k - 1]) return false;
    return true;
}

/* The same elements by the fewest axes: none of length 1, in ascending order of the first operand's strides (axis 0 is the
 * innermost), none that goes on where the one before it ends.  At least one axis is left.  Every length is at least 1. */
static inline void simplify(struct layout* l, int operands) {
    int axes = 0;
    for (int k = 0; k < l->axes; k++)
        if (l->lengths[k] != 1) exchange_axes(l, operands, axes++, k);
    l->axes = axes;
    turn_descending_axes(l, operands);
    for (int k = 1; k < axes; k++)
        for (int j = k; j > 0 && l->strides[0][j] < l->strides[0][j - 1]; j--) exchange_axes(l, operands, j, j - 1);
    int last = 0;
    for (int k = 1; k < axes; k++) {
        exchange_axes(l, operands, last + 1, k);
        if (continues(l, operands, last + 1)) l->lengths[last] *= l->lengths[last + 1];
        else last++;
    }
    l->axes = axes > 0 ? last + 1 : 1;
    if (axes > 0) return;
    l->lengths[0] = 1;
    for (int o = 0; o < operands; o++) l->strides[o][0] = 1;
}

/* Moves the axes along which an operand stays where it is to a layout of their own. */
static inline void move_repeats(struct layout* l, int operands, int operand, struct layout* repeats) {
    int axes = 0;
    repeats->axes = 0;
    for (int k = 0; k < l->axes; k++) {
        if (l->strides[operand][k] != 0) {
            exchange_axes(l, operands, axes++, k);
            continue;
        }
        repeats->lengths[repeats->axes] = l->lengths[k];
        for (int o = 0; o < operands; o++) repeats->strides[o][repeats->axes] = l->strides[o][k];
        repeats->axes++;
    }
    l->axes = axes;
}

/* Brings to axis 1 the one along which an operand lies closest, where that is closer than along axis 0: what is read there
 * and written along axis 0 is to be turned in tiles of these two. */
static inline void bring_close_axis(struct layout* l, int operands) {
    int close = 0;
    uint64_t least = UINT64_MAX;
    for (int o = 1; o < operands; o++)
        for (int k = 1; k < l->axes; k++) {
            const uint64_t step = size_of_step(l->strides[o][k]);
            if (step == 0 || step >= size_of_step(l->strides[o][0]) || step >= least) continue;
            least = step;
            close = k;
        }
    if (close > 1) exchange_axes(l, operands, 1, close);
}

/* Takes over a shape, and an operand's strides and offset. */
static inline void set_shape(struct layout* l, int axes, const int64_t* shape) {
    l->axes = axes;
    for (int k = 0; k < axes; k++) l->lengths[k] = shape[k];
}
static inline void set_operand(struct layout* l, int operand, const int64_t* strides, int64_t offset) {
    for (int k = 0; k < l->axes; k++) l->strides[operand][k] = strides[k];
    l->offsets[operand] = offset;
}

#endif
