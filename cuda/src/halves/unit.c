/* Chooses what multiplies bfloat16, and float16, once each. */
#include "unit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static bool is(const char* asked, const char* name) { return asked && strcmp(asked, name) == 0; }

/* Whether processor and caller leave the choice to the library: no narrower instruction set was asked for, or is all there is. */
static bool has_widest(void) { return simd()->width >= WIDEST_VECTOR; }

static const struct unit* choose_bf16(void) {
    const char* const asked = getenv("ASSAYER_BF16");
    if (is(asked, "widened")) return NULL;
    if (is(asked, "amx_emulated")) return amx_emulated_unit();
    if (is(asked, "avx512_bf16")) return avx512_bf16_unit();
    if (is(asked, "amx")) return amx_unit();
    const struct unit* const amx = has_widest() ? amx_unit() : NULL;
    if (amx) return amx;
    return has_widest() && avx512_bf16_pays() ? avx512_bf16_unit() : NULL;
}

static const struct unit* choose_fp16(void) {
    const char* const asked = getenv("ASSAYER_FP16");
    if (is(asked, "widened")) return NULL;
    if (is(asked, "amx_emulated")) return amx_fp16_emulated_unit();
    return has_widest() || is(asked, "amx") ? amx_fp16_unit() : NULL;
}

struct choice {
    _Atomic(const struct unit*) unit;
    atomic_bool is_made;
};

/* Callers that come at once choose alike. */
static const struct unit* chosen(struct choice* choice, const struct unit* (*choose)(void)) {
    if (!atomic_load_explicit(&choice->is_made, memory_order_acquire)) {
        atomic_store_explicit(&choice->unit, choose(), memory_order_relaxed);
        atomic_store_explicit(&choice->is_made, true, memory_order_release);
    }
    return atomic_load_explicit(&choice->unit, memory_order_relaxed);
}

const struct unit* bf16_unit(void) {
    static struct choice choice;
    return chosen(&choice, choose_bf16);
}

const struct unit* fp16_unit(void) {
    static struct choice choice;
    return chosen(&choice, choose_fp16);
}

const struct unit* unit_of(const struct half* format) { return format->widen == simd()->bf16.widen ? bf16_unit() : fp16_unit(); }
