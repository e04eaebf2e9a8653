/* Working memory that outlives a call, so that its pages are touched once. */
#ifndef ASSAYER_SCRATCH_H
#define ASSAYER_SCRATCH_H

#include <stdint.h>

struct scratch {
    void* memory; /* 64-byte aligned; null where there was no memory */
    int slot;
};

/* Takes room for count elements of size bytes each (contents undefined).  Any number of threads may hold some at once. */
struct scratch scratch_take(int64_t count, int64_t size);

/* Gives it back.  A scratch whose memory is null may be given back too. */
void scratch_give(struct scratch taken);

#endif
