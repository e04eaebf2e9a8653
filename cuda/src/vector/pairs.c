/* Factors of 16 bits packed by pairs along the summed index, as halves/unit.h describes.  A pair is a word of 32 bits: where
 * pairs lie together already they are copied, or turned as 16 x 16 words; where their numbers are a row apart they are joined. */
#include "math.h"
#include "names.h"
#include "vec.h"

#include <string.h>

enum { PAIRS = PAIR_DEPTH / 2 };

/* Word j of run i to word i of run j, 16 runs of 16 words; strides in words of `to`, in numbers of `from`. */
static inline void turn(const uint16_t* from, int64_t run, uint32_t* to) {
    for (int i = 0; i < PAIRS; i += LANES)
        for (int j = 0; j < PAIRS; j += LANES) {
            vec block[LANES];
            UNROLLED for (int n = 0; n < LANES; n++) memcpy(&block[n], from + (i + n) * run + 2 * j, sizeof(vec));
            transpose(block);
            UNROLLED for (int n = 0; n < LANES; n++) memcpy(to + (j + n) * PAIRS + i, &block[n], sizeof(vec));
        }
}

/* PAIRS rows of words of a matrix by rows, from row k on: `count` numbers of each, zeros behind `depth`.  What stands behind the
 * count is zero too, or where `reads_on` and rows are no shorter than a panel, what follows in the matrix, which is read faster. */
static inline void join_rows(const uint16_t* data, int64_t row, int64_t k, int64_t depth, int count, int reads_on, uint32_t* words) {
    for (int p = 0; p < PAIRS; p++, k += 2, words += PAIR_WIDTH) {
        const uint16_t *const first = data + k * row, *const second = k + 1 < depth ? first + row : NULL;
        if (count == PAIR_WIDTH ? k + 1 < depth : reads_on && row >= PAIR_WIDTH && k + 2 < depth) {
            for (int i = 0; i < PAIR_WIDTH; i++) words[i] = first[i] | (uint32_t)second[i] << 16;
        } else {
            memset(words, 0, PAIR_WIDTH * sizeof *words);
            for (int i = 0; i < count && k < depth; i++) words[i] = first[i] | (second ? (uint32_t)second[i] << 16 : 0);
        }
    }
}

/* `count` runs of `length` numbers, zeros behind them, as 16 runs of 32. */
static void copy_runs_of(const uint16_t* from, int64_t run, int count, int64_t length, uint16_t* to) {
    memset(to, 0, (size_t)PAIR_WIDTH * PAIR_DEPTH * sizeof *to);
    for (int i = 0; i < count; i++) memcpy(to + i * PAIR_DEPTH, from + i * run, (size_t)length * sizeof *to);
}

/* The least magnitude but zero, less 1: zero becomes the largest of all. */
static uint16_t least(int64_t n, const uint16_t* x) {
    uint16_t found = UINT16_MAX;
    for (int64_t i = 0; i < n; i++) {
        const uint16_t magnitude = (uint16_t)((x[i] & 0x7fff) - 1);
        found = magnitude < found ? magnitude : found;
    }
    return found;
}

static inline int64_t part_of(int64_t depth, int64_t k) { return depth - k < PAIR_DEPTH ? depth - k : PAIR_DEPTH; }

/* Up to 16 rows of a matrix that lies by columns: joined, and turned. */
static void turn_rows(struct half_matrix a, int rows, int64_t k, int64_t depth, uint16_t* to) {
    uint32_t words[PAIRS * PAIR_WIDTH], turned[PAIRS * PAIR_WIDTH];
    uint16_t numbers[2 * PAIRS * PAIR_WIDTH];
    join_rows(a.data, a.col, k, depth, rows, 1, words);
    memcpy(numbers, words, sizeof words);
    turn(numbers, 2 * PAIR_WIDTH, turned);
    if (rows == PAIR_WIDTH) memcpy(to, turned, sizeof turned);
    else memcpy(to, turned, (size_t)rows * PAIR_DEPTH * sizeof *to);
}

static uint16_t pack_strip(struct half_matrix a, int rows, int64_t depth, uint16_t* strip) {
    uint16_t* to = strip;
    for (int64_t k = 0; k < depth; k += PAIR_DEPTH, to += rows * PAIR_DEPTH) {
        const int64_t part = part_of(depth, k);
        if (a.col == 1 && part == PAIR_DEPTH) { /* by copies of a length that the compiler knows */
            for (int i = 0; i < rows; i++) memcpy(to + i * PAIR_DEPTH, a.data + i * a.row + k, PAIR_DEPTH * sizeof *to);
        } else if (a.col == 1) {
            for (int i = 0; i < rows; i++) {
                memcpy(to + i * PAIR_DEPTH, a.data + i * a.row + k, (size_t)part * sizeof *to);
                memset(to + i * PAIR_DEPTH + part, 0, (size_t)(PAIR_DEPTH - part) * sizeof *to);
            }
        } else {
            for (int i = 0; i < rows; i += PAIR_WIDTH)
                turn_rows((struct half_matrix){a.data + i, 1, a.col}, rows - i < PAIR_WIDTH ? rows - i : PAIR_WIDTH, k, depth,
                          to + i * PAIR_DEPTH);
        }
    }
    return least(to - strip, strip);
}

static uint16_t pack_panel(struct half_matrix b, int64_t depth, int columns, uint16_t* panel) {
    uint16_t* to = panel;
    for (int64_t k = 0; k < depth; k += PAIR_DEPTH, to += PAIR_WIDTH * PAIR_DEPTH) {
        const int64_t part = part_of(depth, k);
        uint32_t words[PAIRS * PAIR_WIDTH];
        if (b.col == 1) { /* meanwhile the rows of the next step */
            for (int64_t i = k + PAIR_DEPTH; i < k + 2 * PAIR_DEPTH; i++) PREFETCH((uintptr_t)b.data + 2 * (uintptr_t)(i * b.row));
            join_rows(b.data, b.row, k, depth, columns, 0, words);
        } else if (columns == PAIR_WIDTH && part == PAIR_DEPTH) { /* meanwhile the columns of the next panel */
            for (int64_t j = PAIR_WIDTH; j < 2 * PAIR_WIDTH; j++) PREFETCH((uintptr_t)b.data + 2 * (uintptr_t)(k + j * b.col));
            turn(b.data + k, b.col, words);
        } else {
            uint16_t whole[PAIR_WIDTH * PAIR_DEPTH];
            copy_runs_of(b.data + k, b.col, columns, part, whole);
            turn(whole, PAIR_DEPTH, words);
        }
        memcpy(to, words, sizeof words);
    }
    return least(to - panel, panel);
}

void NAME(fill_pairs)(struct simd* table) {
    table->pack_strip = pack_strip;
    table->pack_panel = pack_panel;
}
