/* Notes which parts of a library its calls reach, and what they compare with constants; `hunt` asks for both.
 *
 * The compiler calls the functions below from every basic block and every comparison of what is compiled with
 *
 *   -g1 -fsanitize-coverage=trace-pc,trace-cmp -fno-optimize-sibling-calls
 *
 * (gcc; clang with -O0 besides, since it counts branches when it has made one of two).  This file is compiled without these
 * options, or it would call itself for ever, and linked into the library.  Its functions are hidden: each library has its
 * own, whatever else the process holds.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORTED __attribute__((visibility("default")))

enum {
    MOST_CODE = 1 << 26,   /* bytes from the library's beginning; what lies behind is not noted */
    MOST_PLACES = 1 << 22,
    MOST_COMPARISONS = 1 << 12, /* from one request to the next */
};

struct comparison {
    double place, constant, value;
};

extern const char __ehdr_start HIDDEN; /* the linker's: where the library begins */

/* Pages of these that no code maps to are never touched, and cost addresses alone. */
static _Atomic uint8_t is_noted[MOST_CODE], is_compared[MOST_CODE];
static _Atomic uint32_t places[MOST_PLACES];
static struct comparison comparisons[MOST_COMPARISONS];
static _Atomic uint32_t n_places, n_comparisons;

#define PLACE ((uintptr_t)__builtin_return_address(0) - (uintptr_t)&__ehdr_start)

/* Whether a place is noted for the first time; most are noted already, which one load tells. */
static int is_first(_Atomic uint8_t* noted, uintptr_t place) {
    return place < MOST_CODE && !atomic_load_explicit(noted + place, memory_order_relaxed) && !atomic_exchange(noted + place, 1);
}

HIDDEN void __sanitizer_cov_trace_pc(void) {
    const uintptr_t place = PLACE;
    if (!is_first(is_noted, place)) return;
    const uint32_t at = atomic_fetch_add(&n_places, 1);
    if (at < MOST_PLACES) atomic_store(places + at, (uint32_t)place);
}

static void compare(uintptr_t place, double constant, double value) {
    if (!is_first(is_compared, place)) return;
    const uint32_t at = atomic_fetch_add(&n_comparisons, 1);
    if (at < MOST_COMPARISONS) comparisons[at] = (struct comparison){(double)place, constant, value};
}

HIDDEN void __sanitizer_cov_trace_const_cmp4(uint32_t a, uint32_t b) { compare(PLACE, (double)(int32_t)a, (double)(int32_t)b); }
HIDDEN void __sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b) { compare(PLACE, (double)(int64_t)a, (double)(int64_t)b); }
/* gcc alone calls these; it does not say which side is the constant. */
HIDDEN void __sanitizer_cov_trace_cmpf(float a, float b) { compare(PLACE, b, a); }
HIDDEN void __sanitizer_cov_trace_cmpd(double a, double b) { compare(PLACE, b, a); }

/* Two values, neither known beforehand, as i < n is; numbers too short for a size; and a switch. */
HIDDEN void __sanitizer_cov_trace_cmp1(uint8_t a, uint8_t b) { (void)a, (void)b; }
HIDDEN void __sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b) { (void)a, (void)b; }
HIDDEN void __sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b) { (void)a, (void)b; }
HIDDEN void __sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b) { (void)a, (void)b; }
HIDDEN void __sanitizer_cov_trace_const_cmp1(uint8_t a, uint8_t b) { (void)a, (void)b; }
HIDDEN void __sanitizer_cov_trace_const_cmp2(uint16_t a, uint16_t b) { (void)a, (void)b; }
HIDDEN void __sanitizer_cov_trace_switch(uint64_t value, uint64_t* values) { (void)value, (void)values; }

/* Put out at most `most` of the places that were reached, in the order in which they first were, from number `from` on: the
 * address behind each call of __sanitizer_cov_trace_pc, relative to the library's beginning.  Returns how many. */
EXPORTED int32_t assayer_coverage_places(uint32_t* out, int32_t from, int32_t most) {
    const uint32_t all = atomic_load(&n_places), held = all < MOST_PLACES ? all : MOST_PLACES;
    int32_t count = 0;
    while (count < most && (uint32_t)(from + count) < held) {
        out[count] = atomic_load(places + from + count);
        count++;
    }
    return count;
}

/* Put out at most `most` comparisons, the first at each place since the last request: place, constant, value.  Forgets
 * them all.  Returns how many. */
EXPORTED int32_t assayer_coverage_comparisons(double* out, int32_t most) {
    const uint32_t all = atomic_load(&n_comparisons), held = all < MOST_COMPARISONS ? all : MOST_COMPARISONS;
    const uint32_t count = held < (uint32_t)most ? held : (uint32_t)most;
    memcpy(out, comparisons, count * sizeof *comparisons);
    for (uint32_t i = 0; i < held; i++) atomic_store(is_compared + (uintptr_t)comparisons[i].place, 0);
    atomic_store(&n_comparisons, 0);
    return (int32_t)count;
}
