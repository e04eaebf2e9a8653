/* The 16-bit operations on the host: sixteen.h between two conversions, for each format. */
#include "check.h"
#include "simd.h"
#include "parallel.h"
#include "scratch.h"

typedef uint16_t half_bits;

enum { LINE = 16 }; /* floats of a cache line */

/* An array of the caller's in 16 bits, and in float32 meanwhile. */
struct staged {
    const half_bits* from; /* null: not read */
    half_bits* to;         /* null: not written */
    int64_t count;         /* of elements; 0: no size that could be, or no array */
    float* wide;
};

/* The elements of an array of these sizes, 0 where they do not fit. */
#define ELEMENTS(...) elements_of(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})
static int64_t elements_of(int axes, const int64_t* sizes) {
    if (!array_fits(sizeof(float), axes, sizes)) return 0;
    int64_t count = 1;
    for (int i = 0; i < axes; i++) count *= sizes[i];
    return count;
}

static struct staged read_from(const half_bits* array, int64_t count) {
    return (struct staged){array, NULL, array ? count : 0, NULL};
}

static struct staged written_to(half_bits* array, int64_t count) {
    return (struct staged){NULL, array, array ? count : 0, NULL};
}

static int32_t narrow(struct half format, const float* input, half_bits* output, int64_t n, void* stream) {
    (void)stream;
    FOR_CHUNKS(n, at, length, format.narrow(length, input + at, output + at))
    return ASSAYER_OK;
}

static int32_t widen(struct half format, const half_bits* input, float* output, int64_t n, void* stream) {
    (void)stream;
    FOR_CHUNKS(n, at, length, format.widen(length, input + at, output + at))
    return ASSAYER_OK;
}

/* Takes room for all arrays in float32, and widens those that are read. */
static int32_t stage(struct half format, struct staged* all, int count, struct scratch* scratch) {
    int64_t floats = 0;
    for (int i = 0; i < count; i++) {
        CHECK(all[i].count > 0);
        floats += round_up(all[i].count, LINE);
    }
    *scratch = scratch_take(floats, sizeof(float));
    if (!scratch->memory) return ASSAYER_NO_MEMORY;
    float* next = scratch->memory;
    for (int i = 0; i < count; i++) {
        all[i].wide = next;
        next += round_up(all[i].count, LINE);
        if (all[i].from) widen(format, all[i].from, all[i].wide, all[i].count, NULL);
    }
    return ASSAYER_OK;
}

/* Stores what was written; a call that was refused has written nothing. */
static int32_t unstage(struct half format, const struct staged* all, int count, struct scratch scratch, int32_t code) {
    for (int i = 0; i < count && code == ASSAYER_OK; i++)
        if (all[i].to) narrow(format, all[i].wide, all[i].to, all[i].count, NULL);
    scratch_give(scratch);
    return code;
}

#define STAGED(all, call)                                                                                                  \
    enum { COUNT = sizeof all / sizeof *all };                                                                             \
    struct scratch scratch = {0};                                                                                          \
    int32_t code = stage(FORMAT, all, COUNT, &scratch);                                                                    \
    if (code != ASSAYER_OK) return code;                                                                                   \
    code = call;                                                                                                           \
    return unstage(FORMAT, all, COUNT, scratch, code);

#define FORMAT (simd()->bf16)
#define HALF(name) name##_bf16
#include "sixteen.h"
#undef FORMAT
#undef HALF
#define FORMAT (simd()->fp16)
#define HALF(name) name##_fp16
#include "sixteen.h"
