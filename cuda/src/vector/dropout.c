/* Dropout's random words: Philox4x32-10 of many counters side by side. */
#include "math.h"
#include "names.h"

enum { ROUNDS = 10, ABREAST = 64 }; /* counters at a time: their words stay in the nearest cache */

/* words[i * 4 ...]: the block of counter first + i. */
static void draw(uint64_t key, uint64_t first, uint32_t* restrict words) {
    uint32_t a[ABREAST], b[ABREAST], c[ABREAST], d[ABREAST];
    for (int i = 0; i < ABREAST; i++) {
        a[i] = (uint32_t)(first + (uint64_t)i);
        b[i] = (uint32_t)((first + (uint64_t)i) >> 32);
        c[i] = d[i] = 0;
    }
    uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
    for (int round = 0; round < ROUNDS; round++, low += 0x9E3779B9u, high += 0xBB67AE85u) {
        SIMD for (int i = 0; i < ABREAST; i++) {
            const uint64_t of_a = (uint64_t)a[i] * 0xD2511F53u, of_c = (uint64_t)c[i] * 0xCD9E8D57u;
            a[i] = (uint32_t)(of_c >> 32) ^ b[i] ^ low;
            b[i] = (uint32_t)of_c;
            c[i] = (uint32_t)(of_a >> 32) ^ d[i] ^ high;
            d[i] = (uint32_t)of_a;
        }
    }
    for (int i = 0; i < ABREAST; i++) {
        words[4 * i] = a[i];
        words[4 * i + 1] = b[i];
        words[4 * i + 2] = c[i];
        words[4 * i + 3] = d[i];
    }
}

/* y = x * scale where the element's number is no less than rate, 0 elsewhere; x begins with the block `first` past the
 * offset. */
static void dropout(int64_t n, const struct dropout* drawn, int64_t first, const float* restrict x, float* restrict y) {
    const float rate = drawn->rate, scale = drawn->scale;
    uint32_t words[4 * ABREAST];
    for (int64_t start = 0; start < n; start += 4 * ABREAST) {
        const int64_t length = n - start < 4 * ABREAST ? n - start : 4 * ABREAST;
        draw(drawn->key, drawn->offset + (uint64_t)(first + start / 4), words);
        SIMD for (int64_t i = 0; i < length; i++) {
            const float u = (float)(int32_t)(words[i] >> 8) * 0x1p-24f;
            y[start + i] = u >= rate ? x[start + i] * scale : 0.0f;
        }
    }
}

void NAME(fill_dropout)(struct simd* table) { table->dropout = dropout; }
