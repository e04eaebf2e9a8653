/* Products in 16 bits.  Where there is a unit for the format, both factors are packed for it once, shared among the threads; then
 * blocks of C are.  Elsewhere, and where numbers of a strip of A and of all of B are so small that a unit would take a result for
 * zero, the strip is computed in float32: so the last bits of a row may depend on the rows beside it.  How C is divided into
 * blocks, and among threads, changes no bit. */
#include "halves.h"
#include "assayer.h"
#include "../parallel.h"
#include "../scratch.h"
#include "unit.h"

#include <string.h>

/* A block of C is at most so large: its part of packed B, DEPTH_STEPS at a time, stays in the second-level cache, a strip of A in
 * the first. */
enum { BLOCK_ROWS = 128, BLOCK_PANELS = WIDENED_COLUMNS / PAIR_WIDTH, DEPTH_STEPS = 32, TASKS_OF_ONE = 2, TASKS_OF_MANY = 8 };
enum { WIDENED_STRIP = 128 }; /* rows by which what is widened is shared out */
static const double SERIAL_BELOW_FLOPS = 500e3;
static const int64_t TOO_MANY = INT64_MAX / 4; /* more numbers than any memory has */

/* A product as it is shared out: what of the numbering of all products' strips, panels and blocks is its own. */
struct work {
    const struct half_product* product;
    int64_t steps, strips, panels, first_pack, first_block;
    int64_t packed_panels; /* of B, then of B_up where the product is gated */
    uint16_t *a, *b; /* packed */
    uint16_t* least; /* of every strip, then of every panel */
};

struct half_plan {
    const struct half_sums* sums;
    const struct unit* unit; /* or null */
    struct work* works;
    int64_t count, packs, blocks, block_strips, block_panels, most_strips;
};

static int64_t rows_of_strip(const struct half_plan* plan) { return plan->unit ? plan->unit->rows : WIDENED_STRIP; }

/* The first row of a strip; strips are as equal as can be. */
static int64_t strip_at(const struct work* w, int64_t strip) { return w->strips ? strip * w->product->rows / w->strips : 0; }

static void number_blocks(struct half_plan* plan) {
    plan->blocks = 0;
    for (int64_t i = 0; i < plan->count; i++) {
        struct work* const w = &plan->works[i];
        w->first_block = plan->blocks;
        plan->blocks += ceil_div(w->strips, plan->block_strips) * ceil_div(w->panels, plan->block_panels);
    }
}

/* Halves the blocks until there are tasks enough for every thread, or the blocks are small. */
static void divide(struct half_plan* plan) {
    const int64_t enough = (int64_t)(plan->count > 1 ? TASKS_OF_MANY : TASKS_OF_ONE) * thread_count();
    plan->block_strips = max64(1, (plan->unit ? BLOCK_ROWS : WIDENED_ROWS) / rows_of_strip(plan));
    plan->block_panels = BLOCK_PANELS;
    for (number_blocks(plan); plan->blocks < enough; number_blocks(plan)) {
        if (plan->block_panels > 4) plan->block_panels /= 2;
        else if (plan->block_strips > 1) plan->block_strips = ceil_div(plan->block_strips, 2);
        else break;
    }
}

/* Numbers what there is to do, and returns how many packed numbers there are. */
static int64_t count_works(struct half_plan* plan, const struct half_product* products) {
    int64_t numbers = 0;
    plan->packs = 0;
    for (int64_t i = 0; i < plan->count; i++) {
        const struct half_product* const p = &products[i];
        struct work w = {.product = p, .steps = ceil_div(p->depth, PAIR_DEPTH), .strips = ceil_div(p->rows, rows_of_strip(plan)),
                         .panels = p->rows ? ceil_div(p->columns, PAIR_WIDTH) : 0, .first_pack = plan->packs};
        w.packed_panels = p->gated ? 2 * w.panels : w.panels;
        plan->works[i] = w;
        plan->packs += w.strips + w.packed_panels;
        numbers = min64(TOO_MANY, numbers + min64(TOO_MANY, w.steps * PAIR_DEPTH * (p->rows + w.packed_panels * PAIR_WIDTH)));
    }
    return numbers;
}

static void place_packed(struct half_plan* plan, uint16_t* packed, uint16_t* least) {
    for (int64_t i = 0; i < plan->count; i++) {
        struct work* const w = &plan->works[i];
        w->a = packed;
        w->b = packed + w->steps * PAIR_DEPTH * w->product->rows;
        w->least = least + w->first_pack;
        packed = w->b + w->steps * PAIR_DEPTH * w->packed_panels * PAIR_WIDTH;
    }
}

static const struct work* owner(const struct half_plan* plan, int64_t task, bool is_block) {
    int64_t low = 0, high = plan->count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        const int64_t first = is_block ? plan->works[middle].first_block : plan->works[middle].first_pack;
        if (first <= task) low = middle;
        else high = middle;
    }
    return &plan->works[low];
}

static void pack(const struct simd* v, const struct half_plan* plan, int64_t task) {
    const struct work* const w = owner(plan, task, false);
    const struct half_product* const p = w->product;
    const int64_t place = task - w->first_pack, panel = place - w->strips;
    if (place < w->strips) {
        const int64_t row = strip_at(w, place);
        const struct half_matrix a = {p->a.data + row * p->a.row, p->a.row, p->a.col};
        w->least[place] = v->pack_strip(a, (int)(strip_at(w, place + 1) - row), p->depth, w->a + row * w->steps * PAIR_DEPTH);
    } else {
        const struct half_matrix factor = panel < w->panels ? p->b : p->b_up;
        const int64_t column = panel % w->panels * PAIR_WIDTH;
        const struct half_matrix b = {factor.data + column * factor.col, factor.row, factor.col};
        w->least[place] = v->pack_panel(b, p->depth, (int)min64(PAIR_WIDTH, p->columns - column),
                                        w->b + panel * PAIR_WIDTH * w->steps * PAIR_DEPTH);
    }
}

/* bfloat16 has 7 digits behind the first.  Where a and b are the least exponents of the factors, every product is a whole
 * multiple of 2^(a + b - 14), and so is every sum of them, rounded or not: none is below 2^-126, unless it is zero, where
 * a + b >= -112; with the format's bias of 127 in both, 142. */
bool stays_normal(uint16_t least_a, uint16_t least_b) {
    enum { FRACTION = 7, LEAST_NORMAL = 1 << FRACTION, LEAST_EXPONENTS = 142 };
    const int a = least_a + 1, b = least_b + 1; /* of zeros alone 2^16, which no number has */
    return a >= LEAST_NORMAL && b >= LEAST_NORMAL && (a >> FRACTION) + (b >> FRACTION) >= LEAST_EXPONENTS;
}

/* 1 for each strip that the unit may be given. */
static void judge_sizes(const struct half_plan* plan) {
    for (int64_t i = 0; i < plan->count; i++) {
        const struct work* const w = &plan->works[i];
        uint16_t of_b = UINT16_MAX;
        for (int64_t panel = 0; panel < w->packed_panels; panel++)
            of_b = w->least[w->strips + panel] < of_b ? w->least[w->strips + panel] : of_b;
        for (int64_t strip = 0; strip < w->strips; strip++) w->least[strip] = stays_normal(w->least[strip], of_b);
    }
}

/* Where an element of C lies. */
static void* element_of(const struct half_sums* sums, void* c, int64_t at) {
    return (char*)c + at * (int64_t)(sums->wide ? sizeof(float) : sizeof(uint16_t));
}

/* n numbers of C from c on (its type by sums->wide), by as many sums. */
static void store_sums(const struct simd* v, const struct half_sums* sums, int64_t n, float* summed, void* c) {
    float before[WIDENED_COLUMNS];
    if (sums->alpha != 1) v->scale(n, summed, sums->alpha, summed);
    if (sums->beta != 0 && !sums->wide) sums->format.widen(n, c, before);
    if (sums->beta != 0) v->axpy(n, sums->beta, sums->wide ? c : before, summed);
    if (sums->wide) memcpy(c, summed, (size_t)n * sizeof(float));
    else sums->format.narrow(n, summed, c);
}

/* Of one row: gate, up and what they make. */
static void store_gated(const struct simd* v, const struct half_product* p, struct half format, int64_t n, const float* gate,
                        const float* up, int64_t at) {
    float gated[WIDENED_COLUMNS];
    v->swiglu(n, gate, up, gated);
    format.narrow(n, gate, (uint16_t*)p->c + at);
    format.narrow(n, up, p->up + at);
    format.narrow(n, gated, p->gated + at);
}

void store_block(const struct simd* v, const struct half_product* p, const struct half_sums* sums, struct half_block block,
                 float* summed, float* of_up, int64_t row) {
    for (int64_t i = 0; i < block.rows; i++) {
        const int64_t at = (block.row + i) * p->c_row + block.column;
        if (p->gated) store_gated(v, p, sums->format, block.columns, summed + i * row, of_up + i * row, at);
        else store_sums(v, sums, block.columns, summed + i * row, element_of(sums, p->c, at));
    }
}

/* The sums of strips [first, last) by the unit, by packed panels from one on. */
static void sum_strips(const struct half_plan* plan, const struct work* w, int64_t first, int64_t last, int64_t panel, int64_t panels,
                       float* to, int64_t to_row) {
    const int64_t row = strip_at(w, first), column = panel * PAIR_WIDTH, deep = w->steps * PAIR_DEPTH;
    for (int64_t step = 0; step < w->steps; step += DEPTH_STEPS) {
        const int64_t steps = min64(DEPTH_STEPS, w->steps - step);
        for (int64_t strip = first; strip < last; strip++) {
            const int64_t at = strip_at(w, strip), rows = strip_at(w, strip + 1) - at;
            plan->unit->multiply(&(struct unit_call){
                .strip = w->a + at * deep + step * rows * PAIR_DEPTH, .panels = w->b + column * deep + step * PAIR_DEPTH * PAIR_WIDTH,
                .panel_stride = deep * PAIR_WIDTH, .rows = (int)rows, .panel_count = (int)panels, .steps = steps,
                .sums = to + (at - row) * to_row, .row = to_row, .adds = step > 0});
        }
    }
}

/* A block of strips [first, last) by the unit.  Sums that are stored as they are are formed where they are stored. */
static void multiply_strips(const struct simd* v, const struct half_plan* plan, const struct work* w, int64_t first, int64_t last,
                            struct half_block block, float* summed) {
    const struct half_product* const p = w->product;
    const int64_t panel = block.column / PAIR_WIDTH, panels = ceil_div(block.columns, PAIR_WIDTH), width = panels * PAIR_WIDTH;
    const bool in_place = plan->sums->wide && plan->sums->alpha == 1 && plan->sums->beta == 0 && block.columns == width;
    if (in_place) {
        sum_strips(plan, w, first, last, panel, panels, (float*)p->c + block.row * p->c_row + block.column, p->c_row);
        return;
    }
    float* const of_up = summed + block.rows * width;
    sum_strips(plan, w, first, last, panel, panels, summed, width);
    if (p->gated) sum_strips(plan, w, first, last, w->panels + panel, panels, of_up, width);
    store_block(v, p, plan->sums, block, summed, of_up, width);
}

static void do_block(const struct simd* v, const struct half_plan* plan, int64_t task, float* memory) {
    const struct work* const w = owner(plan, task, true);
    const int64_t across = ceil_div(w->panels, plan->block_panels), place = task - w->first_block;
    const int64_t panel = place % across * plan->block_panels, panels = min64(plan->block_panels, w->panels - panel);
    const int64_t column = panel * PAIR_WIDTH, columns = min64(panels * PAIR_WIDTH, w->product->columns - column);
    int64_t strip = place / across * plan->block_strips;
    const int64_t end = min64(strip + plan->block_strips, w->strips);
    while (strip < end) { /* strips that fit the unit, or do not, together */
        const bool fits = plan->unit && w->steps > 0 && w->least[strip];
        int64_t last = plan->unit && w->steps > 0 ? strip + 1 : end;
        while (last < end && w->least[last] == fits) last++;
        const int64_t row = strip_at(w, strip);
        const struct half_block block = {row, strip_at(w, last) - row, column, columns};
        if (fits) multiply_strips(v, plan, w, strip, last, block, memory);
        else multiply_widened(v, w->product, plan->sums, block, memory);
        strip = last;
    }
}

static double flops_of(const struct half_product* products, int64_t count) {
    double flops = 0;
    for (int64_t i = 0; i < count; i++) flops += 2.0 * (double)products[i].rows * (double)products[i].columns * (double)products[i].depth;
    return flops;
}

/* Room for what is packed, the least numbers, and each thread's memory, in this order: a block's sums are twice as many where it is
 * gated. */
static int32_t run(struct half_plan* plan, int64_t numbers, bool is_parallel) {
    const struct simd* const v = simd();
    const int64_t each = max64(widened_memory(v), 2 * BLOCK_ROWS * WIDENED_COLUMNS), packed = round_up(numbers, PAIR_DEPTH);
    const int64_t of_least = round_up(plan->packs, PAIR_DEPTH);
    if (packed >= TOO_MANY) return ASSAYER_NO_MEMORY;
    const struct scratch scratch = scratch_take(packed + of_least + 2 * each * thread_count(), sizeof(uint16_t));
    if (!scratch.memory) {
        scratch_give(scratch);
        return ASSAYER_NO_MEMORY;
    }
    uint16_t* const least = (uint16_t*)scratch.memory + packed;
    float* const memory = (float*)(void*)(least + of_least);
    place_packed(plan, scratch.memory, least);
    if (plan->unit) {
        PARALLEL_TASKS(is_parallel)
        for (int64_t task = 0; task < plan->packs; task++) pack(v, plan, task);
        judge_sizes(plan);
    }
    PARALLEL_TASKS(is_parallel)
    for (int64_t task = 0; task < plan->blocks; task++) do_block(v, plan, task, memory + each * thread_index());
    scratch_give(scratch);
    return ASSAYER_OK;
}

int32_t multiply_halves(const struct half_product* products, int64_t count, const struct half_sums* sums) {
    struct half_plan plan = {.sums = sums, .count = count};
    plan.unit = sums->format.widen == simd()->bf16.widen ? bf16_unit() : NULL;
    const struct scratch scratch = scratch_take(count, sizeof(struct work));
    int32_t code = ASSAYER_NO_MEMORY;
    if (scratch.memory) {
        plan.works = scratch.memory;
        const int64_t numbers = count_works(&plan, products);
        divide(&plan);
        code = run(&plan, plan.unit ? numbers : 0, flops_of(products, count) >= SERIAL_BELOW_FLOPS);
    }
    scratch_give(scratch);
    return code;
}
