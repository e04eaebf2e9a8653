#include "buffers.h"

struct chunks cut_buffers(const int64_t* sizes, int count) {
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
