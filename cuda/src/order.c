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

int64_t order_memory(int n, int k) { return k <= INSERT_UP_TO ? 1 : 3 * (int64_t)n; }

void largest(const float* x, int n, int k, int32_t* chosen, uint32_t* memory) {
    if (k <= INSERT_UP_TO) {
        insert_largest(x, n, k, chosen);
        return;
    }
    int32_t* const order = (int32_t*)(memory + 2 * (int64_t)n);
    sort_descending(x, n, order, memory);
    memcpy(chosen, order, (size_t)k * sizeof *chosen);
}

int32_t first_largest(const float* x, int n) {
    bool any_nan = false;
    for (int i = 0; i < n; i++) any_nan |= isnan(x[i]) != 0;
    const float row_max = simd()->maximum(n, x);
    int32_t i = 0;
    while (any_nan ? !isnan(x[i]) : x[i] != row_max) i++;
    return i;
}
