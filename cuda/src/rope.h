/* Rotary position embedding of rows in float32 or in 16 bits. */
#ifndef ASSAYER_ROPE_H
#define ASSAYER_ROPE_H

#include "simd.h"

/* Heads that are rotated by the same angles. */
struct heads {
    const void* from; /* of float, or where rotation.half is given of its format */
    void* to;
    int64_t count;
};

struct rotation {
    struct heads groups[2]; /* queries and keys, or one of them */
    int64_t batch, seq_len, head_dim;
    const float* freqs; /* at the first position */
    float direction;    /* 1 forward, -1 back */
    const struct half_rows* half; /* or null */
};

/* ASSAYER_OK or ASSAYER_NO_MEMORY. */
int32_t rotate(const struct rotation* r);

#endif
