/* A library with one fault per value of the variable FAULT, each of which shows in several calls: one alone is right. */
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RIGHT, SIZED_BY_THE_FIRST, KEPT_BY_ADDRESS, KEPT_BY_SIZE, SHARED_BY_THREADS, LEAKS, LEAKS_UNTOUCHED, LEAKS_MUCH, AFTER_REFUSED,
       HANGS_AFTER_REFUSED, LATE, CRASHES_LATE, LATE_CODE, DIRECTORY, LOCALE, WRONG, LEAKS_INTO_GAPS, LEAKS_SLEEPING, SLOW,
       ALIGNED_AS_INPUT, SHARED_BY_OWN_THREADS, AFTER_A_LONGER_ONE, LEAKS_PARTS, LEAKS_REFUSED, KEPT_NUMBER, ASKS_FOR_MEMORY,
       ENDS_WITHOUT_MEMORY, USES_NO_MEMORY, RIGHT_WITHOUT_MEMORY, WRITES_WITHOUT_MEMORY, NEVER_AGAIN };

static int fault, refused, calls;
static void* volatile lost;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void choose(void) {
    fault = atoi(getenv("FAULT"));
}

static void silu(const float* input, float* output, int64_t n) {
    for (int64_t i = 0; i < n; i++) output[i] = input[i] / (1 + expf(-input[i]));
}

/* What was computed for the same array, or for as many elements, is given again. */
static void kept(const float* input, float* output, int64_t n) {
    static const float* last;
    static float* results;
    static int64_t count;
    if (count == n && (fault == KEPT_BY_SIZE || last == input)) {
        memcpy(output, results, (size_t)n * sizeof(float));
        return;
    }
    silu(input, output, n);
    results = realloc(results, (size_t)n * sizeof(float));
    memcpy(results, output, (size_t)n * sizeof(float));
    last = input, count = n;
}

/* As many elements as the first call had go through a buffer. */
static void buffered(const float* input, float* output, int64_t n) {
    static int64_t room;
    if (!room) room = n;
    silu(input, output, n < room ? n : room);
}

/* Every call computes in one buffer. */
static void shared(const float* input, float* output, int64_t n) {
    static float buffer[1 << 16];
    silu(input, buffer, n);
    memcpy(output, buffer, (size_t)n * sizeof(float));
}

struct part {
    const float* input;
    float* output;
    int64_t n;
};

/* A part goes row by row through a buffer that is the other threads', too. */
static void* by_rows(void* given) {
    enum { ROW = 1024 };
    static float buffer[ROW];
    const struct part* const p = given;
    for (int64_t at = 0; at < p->n; at += ROW) {
        const int64_t count = p->n - at < ROW ? p->n - at : ROW;
        silu(p->input + at, buffer, count);
        memcpy(p->output + at, buffer, (size_t)count * sizeof(float));
    }
    return NULL;
}

/* A call in as many threads as the environment says. */
static void in_threads(const float* input, float* output, int64_t n) {
    enum { MOST = 64 };
    const int threads = atoi(getenv("OMP_NUM_THREADS"));
    pthread_t started[MOST];
    struct part parts[MOST];
    for (int i = 0; i < threads; i++) {
        const int64_t first = i * n / threads;
        parts[i] = (struct part){input + first, output + first, (i + 1) * n / threads - first};
        pthread_create(&started[i], NULL, by_rows, &parts[i]);
    }
    for (int i = 0; i < threads; i++) pthread_join(started[i], NULL);
}

/* 100 bytes are lost with each call; before the first, as many as 2,000 calls lose are freed between blocks that stay. */
static void lose_into_gaps(void) {
    static void* blocks[4000];
    if (calls == 1) {
        for (int i = 0; i < 4000; i++) blocks[i] = memset(malloc(100), 1, 100);
        for (int i = 0; i < 4000; i += 2) free(blocks[i]);
    }
    lost = malloc(100);
}

/* By way of memory of its own; what becomes of a call that gets none. */
static int32_t through_memory(const float* input, float* output, int64_t n) {
    static int was_short;
    if (fault == WRITES_WITHOUT_MEMORY) output[0] = 0;
    float* const room = malloc((size_t)n * sizeof(float));
    was_short |= !room;
    if (fault == NEVER_AGAIN ? was_short : !room && fault != USES_NO_MEMORY) {
        if (fault == ENDS_WITHOUT_MEMORY) abort();
        return fault == RIGHT_WITHOUT_MEMORY ? 0 : -3;
    }
    silu(input, room, n);
    memcpy(output, room, (size_t)n * sizeof(float));
    free(room);
    return 0;
}

/* A block for each part of an array that is lost, but for the first. */
static void lose_parts(int64_t n) {
    for (int64_t at = 4096; at < n; at += 4096) lost = malloc(100);
}

static void rest(void) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Five milliseconds of a processor's time. */
static void toil(void) {
    const clock_t until = clock() + CLOCKS_PER_SEC / 200;
    while (clock() < until) continue;
}

int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) {
    (void)stream;
    if (!input || !output || n < 1) {
        if (fault == LEAKS_REFUSED) lost = malloc(100);
        if (fault == HANGS_AFTER_REFUSED) pthread_mutex_lock(&one_at_a_time);
        refused = 1;
        return -2;
    }
    static int64_t longest;
    calls++;
    switch (fault) {
        case AFTER_A_LONGER_ONE: if (n > longest) longest = n; if (n < longest) n--; break;
        case LEAKS_PARTS: lose_parts(n); break;
        case ASKS_FOR_MEMORY:
        case ENDS_WITHOUT_MEMORY:
        case USES_NO_MEMORY:
        case RIGHT_WITHOUT_MEMORY:
        case WRITES_WITHOUT_MEMORY:
        case NEVER_AGAIN: return through_memory(input, output, n);
        case SIZED_BY_THE_FIRST: buffered(input, output, n); return 0;
        case KEPT_BY_ADDRESS:
        case KEPT_BY_SIZE: kept(input, output, n); return 0;
        case SHARED_BY_THREADS: shared(input, output, n); return 0;
        case SHARED_BY_OWN_THREADS: in_threads(input, output, n); return 0;
        case LEAKS: lost = memset(malloc(8000), 1, 8000); break;
        case LEAKS_UNTOUCHED: lost = malloc(8 << 20); break;
        case LEAKS_MUCH: lost = memset(malloc(300 << 20), 1, 300 << 20); break;
        case AFTER_REFUSED: if (refused) n--; break;
        case HANGS_AFTER_REFUSED: pthread_mutex_lock(&one_at_a_time), pthread_mutex_unlock(&one_at_a_time); break;
        case LATE: if (calls > 200) n--; break;
        case CRASHES_LATE: if (calls > 200) abort();
        case LATE_CODE: if (fault == LATE_CODE && calls > 200) return -3; break;
        case DIRECTORY: if (chdir("/")) return -3; break;
        case LOCALE: setlocale(LC_NUMERIC, "C.UTF-8"); break;
        case LEAKS_INTO_GAPS: lose_into_gaps(); break;
        case LEAKS_SLEEPING: lost = memset(malloc(8000), 1, 8000), rest(); break;
        case SLOW: toil(); break;
        case ALIGNED_AS_INPUT: output = (uintptr_t)input % 16 ? output : (float*)((uintptr_t)output & -16); break;
        case WRONG: silu(input, output, n); output[0] += 1; return 0;
    }
    silu(input, output, n);
    return 0;
}

int32_t cuda_scale(const float* input, float scale, float* output, int64_t n, void* stream) {
    static float kept;
    (void)stream;
    if (!input || !output || n < 1) return -2;
    if (kept == 0) kept = scale;
    for (int64_t i = 0; i < n; i++) output[i] = input[i] * (fault == KEPT_NUMBER ? kept : scale);
    return 0;
}
