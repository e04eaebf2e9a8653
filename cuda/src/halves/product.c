/* Products in 16 bits.  Where there is a unit for the format, A is packed for it once, shared among the threads; then blocks of C
 * are computed, each of which packs its part of B to memory that its caches hold.  Elsewhere, and where numbers of a strip of A and
 * of a panel of B are so small that a unit would take a result for zero, that part of C is computed in float32: so the last bits of
 * an element may depend on the rows and columns beside it.  How C is divided into blocks, and among threads, changes no bit. */
#include "halves.h"
#include "assayer.h"
#include "../parallel.h"
#include "../scratch.h"
#include "unit.h"

#include <string.h>

/* A block of C is at most so large: packing its part of B is little beside so many rows of products, of which GROUP_ROWS at a time,
 * DEPTH_STEPS at a time, are summed; PACKED numbers of B leave room in the second-level cache, a strip of A in the first. */
enum { BLOCK_ROWS = WIDENED_ROWS, BLOCK_PANELS = WIDENED_COLUMNS / PAIR_WIDTH, LEAST_PANELS = 4, PACKED = 1 << 18 };
/* Of products past 65,536 terms even the least block's part of B would take each thread many megabytes: they are widened. */
enum { MOST_PACKED = 1 << 22 };
enum { GROUP_ROWS = 128, DEPTH_STEPS = 32, TASKS_OF_ONE = 2, TASKS_OF_MANY = 8 };
enum { WIDENED_STRIP = 128 }; /* rows by which what is widened is shared out */
static const double SERIAL_BELOW_FLOPS = 500e3;
static const int64_t TOO_MANY = INT64_MAX / 4; /* more numbers than any memory has */

/* A product as it is shared out: what of the numbering of all products' strips, panels and blocks is its own. */
struct work {
    const struct half_product* product;
    int64_t steps, strips, panels, first_strip, first_block;
    uint16_t* a;     /* packed */
    uint16_t* least; /* of every strip */
};

struct half_plan {
    const struct half_sums* sums;
    const struct unit* unit; /* or null */
    struct work* works;
    int64_t count, strips, blocks, block_strips, block_panels;
    int64_t most_strips, most_of_panel; /* of one product; numbers of a panel, and of up's beside it */
    int64_t b_floats;                   /* room for a block's part of B */
};

/* A block's part of B. */
struct half_panels {
    uint16_t* b;
    int64_t up; /* where that of up begins */
    uint16_t least[BLOCK_PANELS];
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

static void place_packed(struct half_plan* plan, uint16_t* packed, uint16_t* least) {
    for (int64_t i = 0; i < plan->count; i++) {
        struct work* const w = &plan->works[i];
        w->a = packed;
        w->least = least + w->first_strip;
        packed += w->steps * PAIR_DEPTH * w->product->rows;
    }
}

static const struct work* owner(const struct half_plan* plan, int64_t task, bool is_block) {
    int64_t low = 0, high = plan->count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        const int64_t first = is_block ? plan->works[middle].first_block : plan->works[middle].first_strip;
        if (first <= task) low = middle;
        else high = middle;
    }
    return &plan->works[low];
}

static void pack_strip(const struct simd* v, const struct half_plan* plan, int64_t task) {
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
 * a + b >= -112; with the format's bias of 127 in both, 142. */
bool stays_normal(uint16_t least_a, uint16_t least_b) {
    enum { FRACTION = 7, LEAST_NORMAL = 1 << FRACTION, LEAST_EXPONENTS = 142 };
    const int a = least_a + 1, b = least_b + 1; /* of zeros alone 2^16, which no number has */
    return a >= LEAST_NORMAL && b >= LEAST_NORMAL && (a >> FRACTION) + (b >> FRACTION) >= LEAST_EXPONENTS;
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

static bool all_stay_normal(const struct work* w, int64_t first, int64_t last, const struct half_panels* panels, int64_t count) {
    bool stay = true;
    for (int64_t strip = first; strip < last; strip++)
        for (int64_t j = 0; j < count; j++) stay = stay && stays_normal(w->least[strip], panels->least[j]);
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
            if (stays_normal(w->least[strip], panels->least[panel])) multiply_part(v, plan, &piece, panels, panel, memory);
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
        if (all_stay_normal(w, strip, last, &panels, count)) multiply_part(v, plan, &part, &panels, 0, rest);
        else multiply_pieces(v, plan, &part, &panels, rest);
    }
}

static void do_block(const struct simd* v, const struct half_plan* plan, int64_t task, float* memory) {
    const struct work* const w = owner(plan, task, true);
    const int64_t across = ceil_div(w->panels, plan->block_panels), place = task - w->first_block;
    const int64_t panel = place % across * plan->block_panels, panels = min64(plan->block_panels, w->panels - panel);
    const int64_t column = panel * PAIR_WIDTH, columns = min64(panels * PAIR_WIDTH, w->product->columns - column);
    const int64_t strip = place / across * plan->block_strips, end = min64(strip + plan->block_strips, w->strips), row = strip_at(w, strip);
    const struct half_block block = {row, strip_at(w, end) - row, column, columns};
    if (plan->unit && w->steps > 0) multiply_strips(v, plan, w, strip, end, block, memory);
    else multiply_widened(v, w->product, plan->sums, block, memory);
}

static double flops_of(const struct half_product* products, int64_t count) {
    double flops = 0;
    for (int64_t i = 0; i < count; i++) flops += 2.0 * (double)products[i].rows * (double)products[i].columns * (double)products[i].depth;
    return flops;
}

/* Room for what is packed of A, the least numbers, and each thread's memory, in this order: its part of B, and a group's sums, which
 * are twice as many where it is gated. */
static int32_t run(struct half_plan* plan, int64_t numbers, bool is_parallel) {
    const struct simd* const v = simd();
    const int64_t each = plan->b_floats + round_up(max64(widened_memory(v), 2 * GROUP_ROWS * WIDENED_COLUMNS), PAIR_WIDTH);
    const int64_t packed = round_up(numbers, PAIR_DEPTH), of_least = round_up(plan->strips, PAIR_DEPTH);
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
        for (int64_t task = 0; task < plan->strips; task++) pack_strip(v, plan, task);
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
        int64_t numbers = count_works(&plan, products);
        if (plan.unit && plan.most_of_panel > MOST_PACKED / LEAST_PANELS) {
            plan = (struct half_plan){.sums = sums, .count = count, .works = plan.works};
            numbers = count_works(&plan, products);
        }
        divide(&plan);
        code = run(&plan, plan.unit ? numbers : 0, flops_of(products, count) >= SERIAL_BELOW_FLOPS);
    }
    scratch_give(scratch);
    return code;
}
