/* Products in 16 bits.  Where there is a unit for the format, A is packed for it once, shared among the threads; then blocks of C
 * are computed, each of which packs its part of B to memory that its caches hold.  Elsewhere, and where numbers of a strip of A and
 * of a panel of B are so small that a unit would take a result for zero, that part of C is computed in float32: so the last bits of
 * an element may depend on the rows and columns beside it.  How C is divided into blocks, and among threads, changes no bit. */
#include "assayer.h"
#include "../scratch.h"
#include "plan.h"

#include <stddef.h>

static const double SERIAL_BELOW_FLOPS = 500e3;

static double flops_of(const struct half_product* products, int64_t count) {
    double flops = 0;
    for (int64_t i = 0; i < count; i++) flops += 2.0 * (double)products[i].rows * (double)products[i].columns * (double)products[i].depth;
    return flops;
}

/* As of floats: what a thread left in its core's cache, it finds there. */
static void do_blocks(const struct simd* v, const struct half_plan* plan, bool is_parallel, float* memory, int64_t each) {
    if (plan->count == 1 && plan->blocks % thread_count() == 0) {
        PARALLEL_FOR(is_parallel)
        for (int64_t task = 0; task < plan->blocks; task++) do_block(v, plan, task, memory + each * thread_index());
    } else {
        PARALLEL_TASKS(is_parallel)
        for (int64_t task = 0; task < plan->blocks; task++) do_block(v, plan, task, memory + each * thread_index());
    }
}

/* Room for what is packed of A, the least numbers, and each thread's memory, in this order: its part of B, and a group's sums, which
 * are twice as many where it is gated. */
static int32_t run(struct half_plan* plan, int64_t numbers, bool is_parallel) {
    const struct simd* const v = simd();
    const int64_t each = block_memory(v, plan);
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
    do_blocks(v, plan, is_parallel, memory, each);
    scratch_give(scratch);
    return ASSAYER_OK;
}

int32_t multiply_halves(const struct half_product* products, int64_t count, const struct half_sums* sums) {
    struct half_plan plan = {.sums = sums, .count = count};
    plan.unit = unit_of(&sums->format);
    const struct scratch scratch = scratch_take(count, sizeof(struct work));
    int32_t code = ASSAYER_NO_MEMORY;
    if (scratch.memory) {
        plan.works = scratch.memory;
        const int64_t numbers = make_plan(&plan, products);
        code = run(&plan, numbers, flops_of(products, count) >= SERIAL_BELOW_FLOPS);
    }
    scratch_give(scratch);
    return code;
}
