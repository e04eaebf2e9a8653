/* A library on a device that is as late as it may be: work is only written down, and done when the host waits for it;
 * with CHANCE some stream's work is done whenever there is more, as early as it may be.
 *
 * Waiting for a stream does that stream's work, and of other streams' what an event makes it wait for; nothing else.  So
 * memory that is handed out too early, or freed too early, is found: freeing what work still needs is an error. */
#include "assayer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 8, EVENTS = 4096, WORK = 65536, STILL_NEEDED = 1, TOO_MUCH = 2 };
enum kind { SCALE, COPY, FILL, RECORD, WAIT };

struct work {
    enum kind kind;
    char* to;
    const char* from;
    int64_t bytes;
    float factor;
    int event;
};
/* Work of a stream from `done` to `asked`; of an event where it lies. */
static struct { struct work all[WORK]; int asked, done; } streams[STREAMS];
static struct { int stream, place; } events[EVENTS];
static int streams_made = 1, events_made;

static void do_until(int stream, int place) {
    while (streams[stream].done < place) {
        const struct work work = streams[stream].all[streams[stream].done++];
        const int64_t n = work.bytes / (int64_t)sizeof(float);
        switch (work.kind) {
        case SCALE:
            for (int64_t i = 0; i < n; i++) ((float*)(void*)work.to)[i] = ((const float*)(const void*)work.from)[i] * work.factor;
            break;
        case COPY: memmove(work.to, work.from, (size_t)work.bytes); break;
        case FILL: memset(work.to, (int)work.factor, (size_t)work.bytes); break;
        case RECORD: break;
        case WAIT: do_until(events[work.event].stream, events[work.event].place); break;
        }
    }
}

static int32_t ask(void* stream, struct work work) {
    const int s = (int)(uintptr_t)stream;
    if (streams[s].asked == WORK) return TOO_MUCH;
    streams[s].all[streams[s].asked++] = work;
#ifdef CHANCE
    static uint32_t drawn = CHANCE;
    drawn = drawn * 1664525 + 1013904223;
    const int some = (int)((drawn >> 16) % (uint32_t)streams_made);
    do_until(some, streams[some].asked);
#endif
    return ASSAYER_OK;
}

int32_t assayer_version(int32_t* version) { return *version = ASSAYER_VERSION, ASSAYER_OK; }

int32_t assayer_capability(const char* name, int64_t* value) {
    const bool known = strcmp(name, "device_memory") == 0 || strcmp(name, "devices") == 0;
    return known ? (*value = 1, ASSAYER_OK) : ASSAYER_UNAVAILABLE;
}

/* 8 bytes before it: how many there are. */
int32_t assayer_allocate(void** memory, int64_t bytes) {
    char* const block = malloc((size_t)bytes + 8);
    if (!block) return ASSAYER_NO_MEMORY;
    memcpy(block, &bytes, 8);
    memset(block + 8, 0xff, (size_t)bytes);
    *memory = block + 8;
    return ASSAYER_OK;
}

int32_t assayer_free(void* memory) {
    char* const block = memory;
    int64_t bytes;
    memcpy(&bytes, block - 8, 8);
    for (int s = 0; s < streams_made; s++)
        for (int i = streams[s].done; i < streams[s].asked; i++) {
            const struct work* const work = &streams[s].all[i];
            if ((work->to >= block && work->to < block + bytes) || (work->from >= block && work->from < block + bytes)) return STILL_NEEDED;
        }
    free(block - 8);
    return ASSAYER_OK;
}

int32_t assayer_copy(void* destination, const void* source, int64_t bytes, void* stream) {
    return ask(stream, (struct work){.kind = COPY, .to = destination, .from = source, .bytes = bytes});
}

int32_t assayer_fill(void* destination, int32_t byte, int64_t bytes, void* stream) {
    return ask(stream, (struct work){.kind = FILL, .to = destination, .bytes = bytes, .factor = (float)byte});
}

int32_t assayer_stream_create(void** stream) {
    if (streams_made == STREAMS) return TOO_MUCH;
    *stream = (void*)(uintptr_t)streams_made++;
    return ASSAYER_OK;
}

int32_t assayer_synchronize(void* stream) {
    const int s = (int)(uintptr_t)stream;
    do_until(s, streams[s].asked);
    return ASSAYER_OK;
}

int32_t assayer_event_create(void** event) {
    if (events_made == EVENTS - 1) return TOO_MUCH;
    *event = (void*)(uintptr_t)++events_made;
    return ASSAYER_OK;
}

int32_t assayer_event_destroy(void* event) { return (void)event, ASSAYER_OK; }

int32_t assayer_event_record(void* event, void* stream) {
    const int e = (int)(uintptr_t)event, s = (int)(uintptr_t)stream;
    const int32_t code = ask(stream, (struct work){.kind = RECORD});
    events[e].stream = s;
    events[e].place = streams[s].asked;
    return code;
}

int32_t assayer_stream_wait(void* stream, void* event) {
    return ask(stream, (struct work){.kind = WAIT, .event = (int)(uintptr_t)event});
}

int32_t cuda_scale(const float* input, float scale, float* output, int64_t n, void* stream) {
    const int64_t bytes = n * (int64_t)sizeof *output;
    return ask(stream, (struct work){.kind = SCALE, .to = (char*)output, .from = (const char*)input, .bytes = bytes, .factor = scale});
}
