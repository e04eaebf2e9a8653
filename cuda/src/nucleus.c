/* A nucleus without sorting the vocabulary: columns are counted by levels of their logits, level by level in descending order; only
 * the level in which the nucleus ends and the one that is drawn from are sorted. */
#include "nucleus.h"
#include "order.h"

#include <string.h>

/* Levels of 1/16, in each of which weights differ by up to 6 %, down to e^-64; what is below has the last one. */
enum { LEVELS = 1024, LEVELS_OF_ONE = 16, ABREAST = 2 };

static int level_of(float tempered) {
    const float level = -tempered * LEVELS_OF_ONE;
    return level < LEVELS - 1 ? (int)level : LEVELS - 1;
}

/* The weights of each level; sums side by side, as one would wait for its last addition. */
static void sum_levels(const float* tempered, const float* weights, int n, double sums[LEVELS]) {
    double side[ABREAST][LEVELS] = {{0}};
    for (int i = 0; i < n; i++) side[i % ABREAST][level_of(tempered[i])] += weights[i];
    for (int level = 0; level < LEVELS; level++) sums[level] = side[0][level] + side[1][level];
}

/* A level's columns in descending order, and their weights. */
struct walk {
    int count;
    int32_t* columns;
    float* weights;
};

/* memory, in words: logits, then columns, the order, the walk's columns and weights, and what sorting needs. */
static struct walk walk_of(const float* tempered, const float* weights, int n, int level, uint32_t* memory) {
    float* const logits = (float*)memory;
    int32_t *const columns = (int32_t*)(memory + n), *const order = columns + n;
    struct walk walk = {0, order + n, (float*)(order + 2 * (int64_t)n)};
    for (int i = 0; i < n; i++) { /* what is passed over is overwritten: a branch would be guessed wrong too often */
        logits[walk.count] = tempered[i];
        columns[walk.count] = i;
        walk.count += level_of(tempered[i]) == level;
    }
    largest(logits, walk.count, walk.count, order, memory + 5 * (int64_t)n);
    for (int i = 0; i < walk.count; i++) {
        walk.columns[i] = columns[order[i]];
        walk.weights[i] = weights[columns[order[i]]];
    }
    return walk;
}

int64_t nucleus_memory(int n) { return 5 * (int64_t)n + order_memory(n, n); }

/* Up to and with the entry that comes to `enough`; at least one. */
static double nucleus_within(const struct walk* walk, double before, double enough) {
    double total = before + walk->weights[0];
    for (int i = 1; i < walk->count && total < enough; i++) total += walk->weights[i];
    return total;
}

/* The first entry whose sum passes what is drawn; the level's sum may have been rounded otherwise than the walk's. */
static int32_t take_from(const struct walk* walk, double before, double drawn) {
    int place = 0;
    for (double sum = before + walk->weights[0]; drawn >= sum && place + 1 < walk->count && walk->weights[place + 1] > 0;)
        sum += walk->weights[++place];
    return walk->columns[place];
}

int32_t draw_from_nucleus(const float* tempered, const float* weights, int n, float top_p, double u, uint32_t* memory) {
    double sums[LEVELS], all = 0, before = 0, total;
    sum_levels(tempered, weights, n, sums);
    for (int level = 0; level < LEVELS; level++) all += sums[level];
    total = all;
    if (top_p < 1) {
        int level = 0;
        for (; before + sums[level] < top_p * all && level < LEVELS - 1; level++) before += sums[level];
        const struct walk last = walk_of(tempered, weights, n, level, memory);
        total = nucleus_within(&last, before, top_p * all);
    }
    int level = 0;
    for (before = 0; before + sums[level] <= u * total && level < LEVELS - 1; level++) before += sums[level];
    const struct walk walk = walk_of(tempered, weights, n, level, memory);
    return take_from(&walk, before, u * total);
}
