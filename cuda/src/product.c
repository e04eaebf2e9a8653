/* A block of C is one task: its thread packs the part of B it needs, PANEL_DEPTH rows at a time, and multiplies it by all of
 * its rows of A.  Every element of C is summed in one order, whatever the blocks. */
#include "product.h"
#include "assayer.h"
#include "parallel.h"
#include "scratch.h"

#include <stddef.h>

/* A block's packed B (BLOCK_COLUMNS x PANEL_DEPTH floats, 512 kB) stays in a core's second-level cache; packing B costs as
 * much as some ten rows of products, so blocks are not made lower than LEAST_ROWS for the sake of more tasks.  Products of
 * different sizes take more tasks to share out evenly. */
enum { BLOCK_COLUMNS = 512, BLOCK_ROWS = 1024, LEAST_COLUMNS = 128, LEAST_ROWS = 128, TASKS_OF_ONE = 2, TASKS_OF_MANY = 8 };
static const double SERIAL_BELOW_FLOPS = 500e3;

struct plan {
    struct product* products;
    int64_t count, tasks, block_rows, block_columns;
    float alpha, beta;
};

static int64_t blocks_of(const struct plan* plan, const struct product* p) {
    return ceil_div(p->rows, plan->block_rows) * ceil_div(p->columns, plan->block_columns);
}

/* Numbers the tasks of every product. */
static void number(struct plan* plan) {
    plan->tasks = 0;
    for (int64_t i = 0; i < plan->count; i++) {
        plan->products[i].first_task = plan->tasks;
        plan->tasks += blocks_of(plan, &plan->products[i]);
    }
}

/* Blocks that cut rows and columns into so many parts, as equal as can be. */
static void cut(struct plan* plan, int panel, int64_t rows, int64_t columns, int64_t down, int64_t across) {
    plan->block_rows = ceil_div(rows, down);
    plan->block_columns = round_up(ceil_div(columns, across), panel);
    number(plan);
}

/* One product is best cut into one block for each thread; where that cannot be, there are more, smaller blocks. */
static bool has_enough(const struct plan* plan) {
    const int threads = thread_count();
    if (plan->count == 1) return plan->tasks == threads || plan->tasks >= (int64_t)TASKS_OF_ONE * threads;
    return plan->tasks >= (int64_t)TASKS_OF_MANY * threads;
}

/* Halves the blocks, along their longer side, until there are enough for every thread, or the blocks are small. */
static void divide(struct plan* plan, int panel) {
    int64_t rows = 1, columns = 1;
    for (int64_t i = 0; i < plan->count; i++) {
        rows = max64(rows, plan->products[i].rows);
        columns = max64(columns, plan->products[i].columns);
    }
    int64_t down = ceil_div(rows, BLOCK_ROWS), across = ceil_div(columns, BLOCK_COLUMNS);
    cut(plan, panel, rows, columns, down, across);
    while (!has_enough(plan)) {
        const bool high = plan->block_rows >= 2 * LEAST_ROWS, wide = plan->block_columns >= 2 * LEAST_COLUMNS;
        if (!high && !wide) break;
        if (wide && (!high || plan->block_columns > plan->block_rows)) across *= 2;
        else down *= 2;
        cut(plan, panel, rows, columns, down, across);
    }
}

static struct product* owner(const struct plan* plan, int64_t task) {
    int64_t low = 0, high = plan->count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (plan->products[middle].first_task <= task) low = middle;
        else high = middle;
    }
    return &plan->products[low];
}

static void scale_block(const struct simd* v, float beta, int64_t rows, int64_t columns, float* c, int64_t c_row) {
    for (int64_t i = 0; i < rows; i++) {
        if (beta == 0) {
            for (int64_t j = 0; j < columns; j++) c[i * c_row + j] = 0;
        } else {
            v->scale(columns, c + i * c_row, beta, c + i * c_row);
        }
    }
}

/* What C held counts so much. */
static float before(const struct plan* plan, const struct product* p) { return p->fresh ? 0.0f : plan->beta; }

struct block {
    int64_t row, rows, column, columns;
};

/* One of a product's C, and its B. */
struct side {
    struct matrix b;
    float* c;
};

/* Adds the depth from k on, a panel of it, to a block.  Its bits are the same whether B is packed or, for a few rows, is not. */
static void add_panel(const struct simd* v, const struct plan* plan, const struct product* p, struct side side, struct block block, int64_t k,
                      float* memory) {
    const int64_t depth = min64(PANEL_DEPTH, p->depth - k);
    const struct matrix a = {p->a.data + block.row * p->a.row + k * p->a.col, p->a.row, p->a.col};
    const struct matrix b = {side.b.data + k * side.b.row + block.column * side.b.col, side.b.row, side.b.col};
    float *const packed = memory + v->strip, *const c = side.c + block.row * p->c_row + block.column;
    const float beta = k == 0 ? before(plan, p) : 1.0f;
    if (block.rows <= v->unpacked_rows && b.col == 1) {
        v->multiply_unpacked(a, b, block.rows, depth, block.columns, plan->alpha, beta, c, p->c_row, memory);
        return;
    }
    v->pack(b, depth, block.columns, packed);
    v->multiply(a, packed, depth * v->panel, block.rows, depth, block.columns, plan->alpha, beta, c, p->c_row, memory);
}

static void do_task(const struct simd* v, const struct plan* plan, int64_t task, float* memory) {
    const struct product* const p = owner(plan, task);
    const int64_t across = ceil_div(p->columns, plan->block_columns), place = task - p->first_task;
    const int64_t row = place / across * plan->block_rows, column = place % across * plan->block_columns;
    const int64_t rows = min64(plan->block_rows, p->rows - row), columns = min64(plan->block_columns, p->columns - column);
    const struct block block = {row, rows, column, columns};
    const struct side sides[] = {{p->b, p->c}, {p->b2, p->c2}};
    const int side_count = p->c2 ? 2 : 1;
    if (p->depth == 0) scale_block(v, before(plan, p), rows, columns, p->c + row * p->c_row + column, p->c_row);
    for (int64_t k = 0; k < p->depth; k += PANEL_DEPTH)
        for (int side = 0; side < side_count; side++) add_panel(v, plan, p, sides[side], block, k, memory);
    for (int64_t i = 0; p->finish && i < rows; i++) p->finish->run(p->finish, v, columns, (row + i) * p->c_row + column, column);
}

/* Where every thread has as many blocks of one product, it does the same ones in every call, and finds in its core's cache what it
 * left there. */
static void do_all(const struct simd* v, const struct plan* plan, double flops, float* memory, int64_t each) {
    const bool shared = plan->tasks > 1 && flops >= SERIAL_BELOW_FLOPS;
    if (plan->count == 1 && plan->tasks % thread_count() == 0) {
        PARALLEL_FOR(shared)
        for (int64_t task = 0; task < plan->tasks; task++) do_task(v, plan, task, memory + each * thread_index());
    } else {
        PARALLEL_TASKS(shared)
        for (int64_t task = 0; task < plan->tasks; task++) do_task(v, plan, task, memory + each * thread_index());
    }
}

int32_t make_and_multiply(void (*make)(const void* context), const void* context, struct product* products, int64_t count, float alpha,
                          float beta) {
    const struct simd* const v = simd();
    struct plan plan = {.products = products, .count = count, .alpha = alpha, .beta = beta};
    divide(&plan, v->panel);
    double flops = 0;
    for (int64_t i = 0; i < count; i++) flops += 2.0 * (double)products[i].rows * (double)products[i].columns * (double)products[i].depth;
    const int64_t each = v->strip + plan.block_columns * PANEL_DEPTH;
    const struct scratch scratch = scratch_take(each * thread_count(), sizeof(float));
    if (scratch.memory) {
        if (make) make(context);
        do_all(v, &plan, flops, scratch.memory, each);
    }
    scratch_give(scratch);
    return scratch.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
}

int32_t multiply_all(struct product* products, int64_t count, float alpha, float beta) {
    return make_and_multiply(NULL, NULL, products, count, alpha, beta);
}
