/* A library on a device of its own: its addresses are none of the host's, so that one taken for the other is found.
 *
 * Work is done when the host waits for it; a kernel that goes wrong says so then, and from then on in every call. */
#include "assayer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifndef DEVICES
#define DEVICES 1
#endif
#ifndef LIMIT
#define LIMIT INT64_MAX /* bytes of its memory */
#endif
#ifndef BODY
#define BODY input[i] * scale
#endif

enum { ILLEGAL_ADDRESS = 700 };
static const uintptr_t TAG = (uintptr_t)1 << 60;
static int32_t failure;
static bool failing;
static int64_t waits, orders, allocated; /* how often the host waited, and one stream for another; bytes */

static bool on_device(const void* memory) { return ((uintptr_t)memory & TAG) != 0; }
static void* real(const void* memory) { return (void*)((uintptr_t)memory & ~TAG); }

int32_t assayer_version(int32_t* version) { return *version = ASSAYER_VERSION, ASSAYER_OK; }

int32_t assayer_capability(const char* name, int64_t* value) {
    const struct { const char* name; int64_t value; } facts[] = {
        {"device_memory", 1}, {"devices", DEVICES}, {"compute_capability", 90}, {"waits", waits},
        {"orders", orders},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(name, facts[i].name) == 0) return *value = facts[i].value, ASSAYER_OK;
    return ASSAYER_UNAVAILABLE;
}

int32_t assayer_allocate(void** memory, int64_t bytes) {
    const size_t room = ((size_t)bytes + 255) / 256 * 256;
    char* const block = allocated + bytes > LIMIT ? NULL : aligned_alloc(256, room + 256);
    if (!block) return ASSAYER_NO_MEMORY;
    *(int64_t*)(void*)block = bytes;
    allocated += bytes;
    *memory = (void*)((uintptr_t)(block + 256) | TAG);
    return failure;
}

int32_t assayer_free(void* memory) {
    if (!on_device(memory)) return ILLEGAL_ADDRESS;
    char* const block = (char*)real(memory) - 256;
    allocated -= *(int64_t*)(void*)block;
    free(block);
    return failure;
}

int32_t assayer_copy(void* destination, const void* source, int64_t bytes, void* stream) {
    (void)stream;
    if (!failure) memcpy(real(destination), real(source), (size_t)bytes);
    return failure;
}

int32_t assayer_fill(void* destination, int32_t byte, int64_t bytes, void* stream) {
    (void)stream;
    if (!failure) memset(real(destination), byte, (size_t)bytes);
    return failure;
}

int32_t assayer_synchronize(void* stream) {
    (void)stream;
    waits++;
    if (failing) failure = ILLEGAL_ADDRESS;
    return failure;
}

/* Streams and events are numbers; what is done first is always done first. */
int32_t assayer_stream_create(void** stream) {
    static uintptr_t streams = (uintptr_t)1 << 60;
    return *stream = (void*)(streams += 16), failure;
}
int32_t assayer_stream_destroy(void* stream) { return (void)stream, failure; }
int32_t assayer_event_create(void** event) { return assayer_stream_create(event); }
int32_t assayer_event_destroy(void* event) { return (void)event, failure; }
int32_t assayer_event_record(void* event, void* stream) { return (void)event, (void)stream, failure; }
int32_t assayer_stream_wait(void* stream, void* event) {
    (void)stream;
    (void)event;
    orders++;
    return failure;
}

int32_t cuda_scale(const float* input, float scale, float* output, int64_t n, void* stream) {
    (void)stream;
    if (!input || !output || n < 1) return ASSAYER_INVALID;
    failing |= !on_device(input) || !on_device(output);
    if (failing) return ASSAYER_OK;
    input = real(input);
    output = real(output);
    for (int64_t i = 0; i < n; i++) output[i] = BODY;
    return ASSAYER_OK;
}

int32_t cuda_multi_scale(float* const* arrays, const int64_t* sizes, const float* scale, int count, void* stream) {
    for (int i = 0; i < count; i++) {
        const int32_t code = cuda_scale(arrays[i], *(const float*)real(scale), arrays[i], sizes[i], stream);
        if (code) return code;
    }
    return ASSAYER_OK;
}

int32_t cuda_embedding(const float* weight, const int* indices, float* output, int num_indices, int vocab_size, int embedding_dim,
                       void* stream) {
    (void)stream;
    weight = real(weight);
    indices = real(indices);
    output = real(output);
    bool all_known = true;
    for (int i = 0; i < num_indices; i++) all_known &= indices[i] >= 0 && indices[i] < vocab_size;
    (void)all_known;
    for (int64_t i = 0; i < (int64_t)num_indices * embedding_dim; i++) {
        const int64_t row = indices[i / embedding_dim];
        const bool known = row >= 0 && row < vocab_size;
#ifdef CLAMPED
        output[i] = weight[(known ? row : 0) * embedding_dim + i % embedding_dim];
#elif defined(ALL_NAN)
        output[i] = weight[(known ? row : 0) * embedding_dim + i % embedding_dim] * (all_known ? 1 : 0 / 0.0f);
#else
        output[i] = known ? weight[row * embedding_dim + i % embedding_dim] : 0 / 0.0f;
#endif
    }
    return ASSAYER_OK;
}
