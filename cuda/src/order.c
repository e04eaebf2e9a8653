#include "order.h"
#include "simd.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { INSERT_UP_TO = 32, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = 3 };

static bool comes_before(float a, float b) { return a > b || (isnan(a) && !isnan(b)); }

/* Insertion into a short list: most entries of a long row fail the first comparison. */
static void insert_largest(const float* x, int n, int k, int32_t* chosen) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (count == k && !comes_before(x[i], x[chosen[k - 1]])) continue;
        int place = count < k ? count++ : k - 1;
        for (; place > 0 && comes_before(x[i], x[chosen[place - 1]]); place--) chosen[place] = chosen[place - 1];
        chosen[place] = i;
    }
}

/* An unsigned key that ascends as x descends; 0 and -0 have one key, as has every NaN. */
static uint32_t descending_key(float x) {
    if (isnan(x)) return 0;
    uint32_t bits;
    const float value = x + 0.0f; /* -0 becomes 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000u ? bits : 0x7fffffffu - bits;
}

/* Stable radix sort of the indices by key, 11 bits at a time. */
static void sort_descending(const float* x, int n, int32_t* order, uint32_t* memory) {
    uint32_t* const keys = memory;
    int32_t* from = (int32_t*)(memory + n);
    int32_t* to = order;
    for (int i = 0; i < n; i++) {
        keys[i] = descending_key(x[i]);
        from[i] = i;
    }
    for (int pass = 0; pass < PASSES; pass++) {
        int32_t starts[DIGITS] = {0};
        const int shift = pass * DIGIT_BITS;
        for (int i = 0; i < n; i++) starts[keys[i] >> shift & (DIGITS - 1)]++;
        for (int32_t digit = 0, total = 0; digit < DIGITS; digit++) {
            const int32_t count = starts[digit];
            starts[digit] = total;
            total += count;
        }
        for (int i = 0; i < n; i++) to[starts[keys[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
        int32_t* const swap = from;
        from = to;
        to = swap;
    }
}

/* Columns that may be among the k largest of what has been looked at, in an order that is descending but for the last ones. */
struct candidates {
    int count;
    float* values;
    int32_t* columns;
};

/* Where there is room for more candidates than stay, most entries of a long row fail a comparison with the k-th of those that stayed, a
 * block of them at a time. */
enum { MORE_THAN_STAY = 1024, BLOCK = 64 };
static int64_t room_of(int k) { return (int64_t)k + (k > MORE_THAN_STAY ? k : MORE_THAN_STAY); }
static bool sorts_all(int n, int k) { return 2 * room_of(k) > n; }

/* Sorts the candidates into `to`, of which no more than k stay: equal ones keep their order, which is that of their columns. */
static void keep_largest(const struct candidates* from, int k, struct candidates* to, uint32_t* memory) {
    int32_t* const order = (int32_t*)memory;
    sort_descending(from->values, from->count, order, memory + from->count);
    to->count = from->count < k ? from->count : k;
    for (int i = 0; i < to->count; i++) {
        to->values[i] = from->values[order[i]];
        to->columns[i] = from->columns[order[i]];
    }
}

static void select_largest(const float* x, int n, int k, int32_t* chosen, uint32_t* memory) {
    const int64_t room = room_of(k);
    struct candidates some = {0, (float*)memory, (int32_t*)(memory + room)};
    struct candidates other = {0, (float*)(memory + 2 * room), (int32_t*)(memory + 3 * room)};
    bool any_left = false; /* whether candidates had to go */
    float least = 0;       /* of those that stayed */
    for (int first = 0; first < n; first += BLOCK) {
        const int end = n - first < BLOCK ? n : first + BLOCK;
        if (any_left && !(simd()->maximum(end - first, x + first) > least)) continue;
        if (some.count + BLOCK > room) {
            const struct candidates before = some;
            keep_largest(&before, k, &other, memory + 4 * room);
            some = other;
            other = before;
            any_left = true;
            least = some.values[k - 1];
        }
        for (int i = first; i < end; i++) { /* what is passed over is overwritten */
            some.values[some.count] = x[i];
            some.columns[some.count] = i;
            some.count += !any_left || x[i] > least;
        }
    }
    keep_largest(&some, k, &other, memory + 4 * room);
    memcpy(chosen, other.columns, (size_t)k * sizeof *chosen);
}

static bool any_nan(const float* x, int n) {
    bool any = false;
    for (int i = 0; i < n; i++) any |= isnan(x[i]) != 0;
    return any;
}

int64_t order_memory(int n, int k) {
    const int64_t of_all = 3 * (int64_t)n, of_some = 7 * room_of(k);
    return k <= INSERT_UP_TO ? 1 : sorts_all(n, k) || of_all > of_some ? of_all : of_some;
}

void largest(const float* x, int n, int k, int32_t* chosen, uint32_t* memory) {
    if (k <= INSERT_UP_TO) {
        insert_largest(x, n, k, chosen);
    } else if (sorts_all(n, k) || any_nan(x, n)) {
        int32_t* const order = (int32_t*)(memory + 2 * (int64_t)n);
        sort_descending(x, n, order, memory);
        memcpy(chosen, order, (size_t)k * sizeof *chosen);
    } else {
        select_largest(x, n, k, chosen, memory);
    }
}

int32_t first_largest(const float* x, int n) {
    const bool nan_first = any_nan(x, n);
    const float row_max = simd()->maximum(n, x);
    int32_t i = 0;
    while (nan_first ? !isnan(x[i]) : x[i] != row_max) i++;
    return i;
}
