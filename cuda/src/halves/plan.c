/* Strips, panels and blocks of products in 16 bits, numbered and divided. */
#include "plan.h"

/* So many packed numbers of B leave room in the second-level cache. */
enum { PACKED = 1 << 18, TASKS_OF_ONE = 2, TASKS_OF_MANY = 8 };
/* Of products past 65,536 terms even the least block's part of B would take each thread many megabytes: they are widened. */
enum { MOST_PACKED = 1 << 22 };
enum { WIDENED_STRIP = 128 }; /* rows by which what is widened is shared out */

static int64_t rows_of_strip(const struct half_plan* plan) { return plan->unit ? plan->unit->rows : WIDENED_STRIP; }

static void number_blocks(struct half_plan* plan) {
    plan->blocks = 0;
    for (int64_t i = 0; i < plan->count; i++) {
        struct work* const w = &plan->works[i];
        w->first_block = plan->blocks;
        plan->blocks += ceil_div(w->strips, plan->block_strips) * ceil_div(w->panels, plan->block_panels);
    }
}

/* Halves the blocks until their part of B fits, there are tasks enough for every thread, or the blocks are small. */
static void divide(struct half_plan* plan) {
    const int64_t enough = (int64_t)(plan->count > 1 ? TASKS_OF_MANY : TASKS_OF_ONE) * thread_count();
    const int64_t most = max64(1, BLOCK_ROWS / rows_of_strip(plan));
    plan->block_strips = max64(1, ceil_div(plan->most_strips, max64(1, ceil_div(plan->most_strips, most)))); /* equal ones */
    plan->block_panels = BLOCK_PANELS;
    while (plan->unit && plan->block_panels > LEAST_PANELS && plan->block_panels * plan->most_of_panel > PACKED) plan->block_panels /= 2;
    for (number_blocks(plan); plan->blocks < enough; number_blocks(plan)) {
        if (plan->block_panels > LEAST_PANELS) plan->block_panels /= 2;
        else if (plan->block_strips > 1) plan->block_strips = ceil_div(plan->block_strips, 2);
        else break;
    }
    plan->b_floats = plan->unit ? plan->block_panels * plan->most_of_panel / 2 : 0;
}

/* Numbers what there is to do, and returns how many packed numbers of A there are. */
static int64_t count_works(struct half_plan* plan, const struct half_product* products) {
    int64_t numbers = 0;
    for (int64_t i = 0; i < plan->count; i++) {
        const struct half_product* const p = &products[i];
        struct work w = {.product = p, .steps = ceil_div(p->depth, PAIR_DEPTH), .strips = ceil_div(p->rows, rows_of_strip(plan)),
                         .panels = p->rows ? ceil_div(p->columns, PAIR_WIDTH) : 0, .first_strip = plan->strips};
        plan->works[i] = w;
        plan->strips += w.strips;
        plan->most_strips = max64(plan->most_strips, w.strips);
        plan->most_of_panel = max64(plan->most_of_panel, (p->gated ? 2 : 1) * w.steps * PAIR_DEPTH * PAIR_WIDTH);
        numbers = min64(TOO_MANY, numbers + min64(TOO_MANY, w.steps * PAIR_DEPTH * p->rows));
    }
    return numbers;
}

int64_t make_plan(struct half_plan* plan, const struct half_product* products) {
    int64_t numbers = count_works(plan, products);
    if (plan->unit && plan->most_of_panel > MOST_PACKED / LEAST_PANELS) {
        *plan = (struct half_plan){.sums = plan->sums, .count = plan->count, .works = plan->works};
        numbers = count_works(plan, products);
    }
    divide(plan);
    return plan->unit ? numbers : 0;
}

void place_packed(struct half_plan* plan, uint16_t* packed, uint16_t* least) {
    for (int64_t i = 0; i < plan->count; i++) {
        struct work* const w = &plan->works[i];
        w->a = packed;
        w->least = least + w->first_strip;
        packed += w->steps * PAIR_DEPTH * w->product->rows;
    }
}

const struct work* owner(const struct half_plan* plan, int64_t task, bool is_block) {
    int64_t low = 0, high = plan->count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        const int64_t first = is_block ? plan->works[middle].first_block : plan->works[middle].first_strip;
        if (first <= task) low = middle;
        else high = middle;
    }
    return &plan->works[low];
}
