/* The build itself: memory and streams of the host. */
#include "check.h"
#include "halves/unit.h"
#include "simd.h"
#include "parallel.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int32_t assayer_version(int32_t* version) {
    CHECK(version);
    *version = ASSAYER_VERSION;
    return ASSAYER_OK;
}

int32_t assayer_capability(const char* name, int64_t* value) {
    CHECK(name && value);
    const struct {
        const char* name;
        int64_t value;
    } facts[] = {
        {"device_memory", 0}, {"devices", 0}, {"threads", thread_count()}, {"compute_capability", 0},
        {"vector_bits", 8 * (int64_t)sizeof(float) * simd()->width},
        {"bf16_unit", bf16_unit() ? bf16_unit()->number : UNIT_NONE},
        {"fp16_unit", fp16_unit() ? fp16_unit()->number : UNIT_NONE},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (strcmp(name, facts[i].name) != 0) continue;
        *value = facts[i].value;
        return ASSAYER_OK;
    }
    return ASSAYER_UNAVAILABLE;
}

int32_t assayer_allocate(void** memory, int64_t bytes) {
    CHECK(memory && bytes >= 1);
    if ((uint64_t)bytes > SIZE_MAX) return ASSAYER_NO_MEMORY;
    void* const block = malloc((size_t)bytes);
    if (!block) return ASSAYER_NO_MEMORY;
    *memory = block;
    return ASSAYER_OK;
}

int32_t assayer_free(void* memory) {
    free(memory);
    return ASSAYER_OK;
}

int32_t assayer_copy(void* destination, const void* source, int64_t bytes, void* stream) {
    (void)stream;
    CHECK(destination && source && bytes >= 1 && (uint64_t)bytes <= SIZE_MAX);
    memcpy(destination, source, (size_t)bytes);
    return ASSAYER_OK;
}

int32_t assayer_fill(void* destination, int32_t byte, int64_t bytes, void* stream) {
    (void)stream;
    CHECK(destination && bytes >= 1 && (uint64_t)bytes <= SIZE_MAX);
    memset(destination, byte, (size_t)bytes);
    return ASSAYER_OK;
}

/* A host has one stream, in which every call has ended when it returns; its address only has to be one. */
static char the_stream;

int32_t assayer_stream_create(void** stream) {
    CHECK(stream);
    *stream = &the_stream;
    return ASSAYER_OK;
}

int32_t assayer_stream_destroy(void* stream) {
    CHECK(stream == &the_stream);
    return ASSAYER_OK;
}

static bool is_stream(const void* stream) { return !stream || stream == &the_stream; }

int32_t assayer_synchronize(void* stream) {
    CHECK(is_stream(stream));
    return ASSAYER_OK;
}

/* An event is a time: that of its recording, 0 before it. */
int32_t assayer_event_create(void** event) {
    CHECK(event);
    double* const seconds = malloc(sizeof *seconds);
    if (!seconds) return ASSAYER_NO_MEMORY;
    *seconds = 0;
    *event = seconds;
    return ASSAYER_OK;
}

int32_t assayer_event_destroy(void* event) {
    CHECK(event);
    free(event);
    return ASSAYER_OK;
}

int32_t assayer_event_record(void* event, void* stream) {
    struct timespec now;
    CHECK(event && is_stream(stream) && timespec_get(&now, TIME_UTC));
    *(double*)event = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    return ASSAYER_OK;
}

int32_t assayer_event_wait(void* event) {
    CHECK(event);
    return ASSAYER_OK;
}

int32_t assayer_event_elapsed(void* start, void* stop, float* milliseconds) {
    CHECK(start && stop && milliseconds);
    const double from = *(const double*)start, to = *(const double*)stop;
    CHECK(from > 0 && to > 0); /* both were recorded */
    *milliseconds = (float)(1e3 * (to - from));
    return ASSAYER_OK;
}

int32_t assayer_stream_wait(void* stream, void* event) {
    CHECK(event && is_stream(stream));
    return ASSAYER_OK;
}

/* A host has nothing that records: its callers make the calls again. */
int32_t assayer_capture_begin(void* stream) {
    (void)stream;
    return ASSAYER_UNSUPPORTED;
}

int32_t assayer_capture_end(void* stream, void** graph) {
    (void)stream;
    (void)graph;
    return ASSAYER_UNSUPPORTED;
}

int32_t assayer_graph_launch(void* graph, void* stream) {
    (void)graph;
    (void)stream;
    return ASSAYER_UNSUPPORTED;
}

int32_t assayer_graph_destroy(void* graph) {
    (void)graph;
    return ASSAYER_UNSUPPORTED;
}
