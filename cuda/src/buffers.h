/* Many buffers as one piece of work. */
#ifndef ASSAYER_BUFFERS_H
#define ASSAYER_BUFFERS_H

#include "check.h"
#include "parallel.h"
#include "scratch.h"

/* A part of one of the arrays. */
struct chunk {
    int array;
    int64_t at, length;
};

/* The chunks of all arrays, so that small arrays cost no more than their elements. */
struct chunks {
    struct scratch scratch; /* memory: the list; null where there was none */
    int64_t count;
    double elements; /* a sum of sizes may pass int64_t */
};

/* The list is given back by scratch_give(list.scratch). */
struct chunks cut_buffers(const int64_t* sizes, int count);

/* Runs a statement for every chunk; index_ is its number. */
#define FOR_LISTED(list, name, ...)                                                                                        \
    PARALLEL_FOR((list).elements >= SERIAL_BELOW)                                                                          \
    for (int64_t index_ = 0; index_ < (list).count; index_++) {                                                            \
        const struct chunk* const name = (const struct chunk*)(list).scratch.memory + index_;                              \
        __VA_ARGS__;                                                                                                       \
    }

#endif
