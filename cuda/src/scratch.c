/* A few kept blocks, each held by one call at a time; when all are held, a plain allocation. */
#include "scratch.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#if defined(__has_include)
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h> /* of compilers whose builds the address sanitizer may watch */
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#endif

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

/* Of a block that is larger than what is asked for the rest is nobody's: the address sanitizer finds who goes there. */
static void* only(void* block, int64_t bytes, int64_t asked) {
    char* const memory = aligned(block);
    if (!memory) return NULL;
    ASAN_UNPOISON_MEMORY_REGION(memory, (size_t)asked);
    ASAN_POISON_MEMORY_REGION(memory + asked, (size_t)((char*)block + bytes + ALIGNMENT - (memory + asked)));
    return memory;
}

static void free_block(void* block, int64_t bytes) {
    if (block) ASAN_UNPOISON_MEMORY_REGION(block, (size_t)bytes + ALIGNMENT);
    free(block);
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
        free_block(slots[slot].block, slots[slot].bytes);
        slots[slot].block = allocate(bytes);
        slots[slot].bytes = slots[slot].block ? bytes : 0;
    }
    const bool has_room = slots[slot].bytes >= bytes;
    return (struct scratch){has_room ? only(slots[slot].block, slots[slot].bytes, bytes) : NULL, slot};
}

void scratch_give(struct scratch taken) {
    if (taken.slot == NO_SLOT) {
        free(taken.memory);
        return;
    }
    if (slots[taken.slot].bytes > KEPT_AT_MOST) {
        free_block(slots[taken.slot].block, slots[taken.slot].bytes);
        slots[taken.slot].block = NULL;
        slots[taken.slot].bytes = 0;
    }
    atomic_store_explicit(&slots[taken.slot].held, 0, memory_order_release);
}

#if defined(__GNUC__)
/* When the library is unloaded nobody holds a block any more. */
__attribute__((destructor)) static void free_all(void) {
    for (int slot = 0; slot < SLOTS; slot++) free_block(slots[slot].block, slots[slot].bytes);
}
#endif
