/* A few kept blocks, each held by one call at a time; when all are held, a plain allocation. */
#include "scratch.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { SLOTS = 16, ALIGNMENT = 64, NO_SLOT = -1 };
static const int64_t KEPT_AT_MOST = (int64_t)256 << 20; /* a larger block goes back to the system at once */

static struct {
    atomic_bool held;
    void* block;
    int64_t bytes;
} slots[SLOTS];

static void* aligned(void* block) {
    const uintptr_t address = (uintptr_t)block + ALIGNMENT - 1;
    return block ? (char*)block + (address / ALIGNMENT * ALIGNMENT - (uintptr_t)block) : NULL;
}

static void* allocate(int64_t bytes) {
    return (uint64_t)bytes > SIZE_MAX - ALIGNMENT ? NULL : malloc((size_t)bytes + ALIGNMENT);
}

struct scratch scratch_take(int64_t count, int64_t size) {
    const int64_t bytes = count > INT64_MAX / size ? INT64_MAX : count * size;
    int slot = 0;
    while (slot < SLOTS && atomic_exchange_explicit(&slots[slot].held, 1, memory_order_acquire)) slot++;
    if (slot == SLOTS) {
        /* Not aligned to a cache line, so that free() finds the block: such calls are rare and only slower. */
        return (struct scratch){allocate(bytes), NO_SLOT};
    }
    if (slots[slot].bytes < bytes) {
        free(slots[slot].block);
        slots[slot].block = allocate(bytes);
        slots[slot].bytes = slots[slot].block ? bytes : 0;
    }
    return (struct scratch){slots[slot].bytes >= bytes ? aligned(slots[slot].block) : NULL, slot};
}

void scratch_give(struct scratch taken) {
    if (taken.slot == NO_SLOT) {
        free(taken.memory);
        return;
    }
    if (slots[taken.slot].bytes > KEPT_AT_MOST) {
        free(slots[taken.slot].block);
        slots[taken.slot].block = NULL;
        slots[taken.slot].bytes = 0;
    }
    atomic_store_explicit(&slots[taken.slot].held, 0, memory_order_release);
}

#if defined(__GNUC__)
/* When the library is unloaded nobody holds a block any more. */
__attribute__((destructor)) static void free_all(void) {
    for (int slot = 0; slot < SLOTS; slot++) free(slots[slot].block);
}
#endif
