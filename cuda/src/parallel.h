/* Work shared among threads: OpenMP where the compiler has it, plain loops elsewhere.  No operation's bits depend on the
 * number of threads: work is cut where the sizes say, and sums over the cuts are taken in order. */
#ifndef ASSAYER_PARALLEL_H
#define ASSAYER_PARALLEL_H

#include <stdint.h>

#ifdef _OPENMP
#include <omp.h>
#define ASSAYER_PRAGMA(text) _Pragma(#text)
#define PARALLEL_FOR(condition) ASSAYER_PRAGMA(omp parallel for schedule(static) if (condition))
#define PARALLEL_TASKS(condition) ASSAYER_PRAGMA(omp parallel for schedule(dynamic) if (condition))
static inline int thread_count(void) { return omp_get_max_threads(); }
static inline int thread_index(void) { return omp_get_thread_num(); }
#else
#define PARALLEL_FOR(condition) (void)(condition);
#define PARALLEL_TASKS(condition) (void)(condition);
static inline int thread_count(void) { return 1; }
static inline int thread_index(void) { return 0; }
#endif

/* Below this many elements of simple work, waking a second thread costs more than it saves. */
enum { SERIAL_BELOW = 16384 };

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

/* Runs a statement on [start, start + length) for every chunk of n elements. */
enum { CHUNK = 8192 };
#define FOR_CHUNKS(n, start, length, ...)                                                                                  \
    PARALLEL_FOR((n) >= SERIAL_BELOW)                                                                                      \
    for (int64_t chunk_ = 0; chunk_ < ceil_div((n), CHUNK); chunk_++) {                                                    \
        const int64_t start = chunk_ * CHUNK, length = min64(CHUNK, (n) - start);                                          \
        __VA_ARGS__;                                                                                                       \
    }

#endif
