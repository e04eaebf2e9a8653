/* A block of C: its part of B is packed to memory that the second-level cache holds, and multiplied by strips of A. */
#include "plan.h"

#include <string.h>

/* So many rows, of a strip of A that the first-level cache holds, are summed so many steps deep at a time. */
enum { GROUP_ROWS = 128, DEPTH_STEPS = 32 };

/* A block's part of B. */
struct half_panels {
    uint16_t* b;
    int64_t up; /* where that of up begins */
    uint16_t least[BLOCK_PANELS];
};

void pack_strip(const struct simd* v, const struct half_plan* plan, int64_t task) {
    const struct work* const w = owner(plan, task, false);
    const struct half_product* const p = w->product;
    const int64_t strip = task - w->first_strip, row = strip_at(w, strip);
    const struct half_matrix a = {p->a.data + row * p->a.row, p->a.row, p->a.col};
    w->least[strip] = v->pack_strip(a, (int)(strip_at(w, strip + 1) - row), p->depth, w->a + row * w->steps * PAIR_DEPTH);
}

/* The panels of a block by one factor B; lowers each panel's least magnitude to that of its numbers. */
static void pack_panels(const struct simd* v, const struct half_product* p, struct half_matrix b, struct half_block block, uint16_t* to,
                        uint16_t* least) {
    const int64_t deep = round_up(p->depth, PAIR_DEPTH);
    for (int64_t at = 0; at < block.columns; at += PAIR_WIDTH, least++) {
        const struct half_matrix panel = {b.data + (block.column + at) * b.col, b.row, b.col};
        const uint16_t of_panel = v->pack_panel(panel, p->depth, (int)min64(PAIR_WIDTH, block.columns - at), to + at * deep);
        if (of_panel < *least) *least = of_panel;
    }
}

/* bfloat16 has 7 digits behind the first.  Where a and b are the least exponents of the factors, every product is a whole
 * multiple of 2^(a + b - 14), and so is every sum of them, rounded or not: none is below 2^-126, unless it is zero, where
 * a + b >= -112; with the format's bias of 127 in both, 142.  Products of float16 are all whole multiples of 2^-48. */
bool stays_normal(const struct unit* unit, uint16_t least_a, uint16_t least_b) {
    enum { FRACTION = 7, LEAST_NORMAL = 1 << FRACTION, LEAST_EXPONENTS = 142 };
    const int a = least_a + 1, b = least_b + 1; /* of zeros alone 2^16, which no number has */
    return !unit->flushes || (a >= LEAST_NORMAL && b >= LEAST_NORMAL && (a >> FRACTION) + (b >> FRACTION) >= LEAST_EXPONENTS);
}

/* The sums of strips [first, last) by the unit and packed panels. */
static void sum_strips(const struct half_plan* plan, const struct work* w, int64_t first, int64_t last, const uint16_t* panels,
                       int64_t count, float* to, int64_t to_row) {
    const int64_t row = strip_at(w, first), deep = w->steps * PAIR_DEPTH;
    for (int64_t step = 0; step < w->steps; step += DEPTH_STEPS) {
        const int64_t steps = min64(DEPTH_STEPS, w->steps - step);
        for (int64_t strip = first; strip < last; strip++) {
            const int64_t at = strip_at(w, strip), rows = strip_at(w, strip + 1) - at;
            plan->unit->multiply(&(struct unit_call){
                .strip = w->a + at * deep + step * rows * PAIR_DEPTH, .panels = panels + step * PAIR_DEPTH * PAIR_WIDTH,
                .panel_stride = deep * PAIR_WIDTH, .rows = (int)rows, .panel_count = (int)count, .steps = steps,
                .sums = to + (at - row) * to_row, .row = to_row, .adds = step > 0});
        }
    }
}

static bool all_stay_normal(const struct unit* unit, const struct work* w, int64_t first, int64_t last, const struct half_panels* panels,
                            int64_t count) {
    bool stay = true;
    for (int64_t strip = first; strip < last; strip++)
        for (int64_t j = 0; j < count; j++) stay = stay && stays_normal(unit, w->least[strip], panels->least[j]);
    return stay;
}

/* A group of strips, or one of them, and some of a block's panels. */
struct part {
    const struct work* work;
    int64_t first, last; /* strips */
    struct half_block block;
};

/* By the unit.  Sums that are stored as they are are formed where they are stored. */
static void multiply_part(const struct simd* v, const struct half_plan* plan, const struct part* part, const struct half_panels* panels,
                          int64_t panel, float* summed) {
    const struct work* const w = part->work;
    const struct half_product* const p = w->product;
    const struct half_block* const block = &part->block;
    const int64_t count = ceil_div(block->columns, PAIR_WIDTH), width = count * PAIR_WIDTH;
    const uint16_t* const b = panels->b + panel * w->steps * PAIR_DEPTH * PAIR_WIDTH;
    if (plan->sums->wide && plan->sums->alpha == 1 && plan->sums->beta == 0 && block->columns == width) {
        sum_strips(plan, w, part->first, part->last, b, count, (float*)p->c + block->row * p->c_row + block->column, p->c_row);
        return;
    }
    float* const of_up = summed + block->rows * width;
    sum_strips(plan, w, part->first, part->last, b, count, summed, width);
    if (p->gated) sum_strips(plan, w, part->first, part->last, b + panels->up, count, of_up, width);
    store_block(v, p, plan->sums, *block, summed, of_up, width);
}

/* Strip by strip and panel by panel: by the unit what it may be given, all else in float32. */
static void multiply_pieces(const struct simd* v, const struct half_plan* plan, const struct part* part, const struct half_panels* panels,
                            float* memory) {
    const struct work* const w = part->work;
    for (int64_t strip = part->first; strip < part->last; strip++)
        for (int64_t panel = 0; panel * PAIR_WIDTH < part->block.columns; panel++) {
            const int64_t row = strip_at(w, strip), at = panel * PAIR_WIDTH;
            const struct half_block block = {row, strip_at(w, strip + 1) - row, part->block.column + at,
                                             min64(PAIR_WIDTH, part->block.columns - at)};
            const struct part piece = {w, strip, strip + 1, block};
            if (stays_normal(plan->unit, w->least[strip], panels->least[panel])) multiply_part(v, plan, &piece, panels, panel, memory);
            else multiply_widened(v, w->product, plan->sums, block, memory);
        }
}

/* Strips [strip, end) by the unit. */
static void multiply_strips(const struct simd* v, const struct half_plan* plan, const struct work* w, int64_t strip, int64_t end,
                            struct half_block block, float* memory) {
    const struct half_product* const p = w->product;
    const int64_t count = ceil_div(block.columns, PAIR_WIDTH), group = max64(1, GROUP_ROWS / plan->unit->rows);
    struct half_panels panels = {.b = (uint16_t*)memory, .up = count * w->steps * PAIR_DEPTH * PAIR_WIDTH};
    memset(panels.least, 0xff, sizeof panels.least);
    pack_panels(v, p, p->b, block, panels.b, panels.least);
    if (p->gated) pack_panels(v, p, p->b_up, block, panels.b + panels.up, panels.least);
    for (int64_t last; strip < end; strip = last) {
        last = min64(end, strip + group);
        const int64_t row = strip_at(w, strip);
        const struct part part = {w, strip, last, {row, strip_at(w, last) - row, block.column, block.columns}};
        float* const rest = memory + plan->b_floats;
        if (all_stay_normal(plan->unit, w, strip, last, &panels, count)) multiply_part(v, plan, &part, &panels, 0, rest);
        else multiply_pieces(v, plan, &part, &panels, rest);
    }
}

void do_block(const struct simd* v, const struct half_plan* plan, int64_t task, float* memory) {
    const struct work* const w = owner(plan, task, true);
    const int64_t across = ceil_div(w->panels, plan->block_panels), place = task - w->first_block;
    const int64_t panel = place % across * plan->block_panels, panels = min64(plan->block_panels, w->panels - panel);
    const int64_t column = panel * PAIR_WIDTH, columns = min64(panels * PAIR_WIDTH, w->product->columns - column);
    const int64_t strip = place / across * plan->block_strips, end = min64(strip + plan->block_strips, w->strips), row = strip_at(w, strip);
    const struct half_block block = {row, strip_at(w, end) - row, column, columns};
    if (plan->unit && w->steps > 0) multiply_strips(v, plan, w, strip, end, block, memory);
    else multiply_widened(v, w->product, plan->sums, block, memory);
}

int64_t block_memory(const struct simd* v, const struct half_plan* plan) {
    return plan->b_floats + round_up(max64(widened_memory(v), 2 * GROUP_ROWS * WIDENED_COLUMNS), PAIR_WIDTH);
}
