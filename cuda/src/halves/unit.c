/* Chooses what multiplies bfloat16, once. */
#include "unit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct unit* choose(void) {
    const char* const asked = getenv("ASSAYER_BF16");
    if (asked && strcmp(asked, "widened") == 0) return NULL;
    if (asked && strcmp(asked, "amx_emulated") == 0) return amx_emulated_unit();
    if (asked && strcmp(asked, "avx512_bf16") == 0) return avx512_bf16_unit();
    if (asked && strcmp(asked, "amx") == 0) return amx_unit();
    if (simd()->width < WIDEST_VECTOR) return NULL; /* a narrower instruction set was asked for, or is all there is */
    const struct unit* const amx = amx_unit();
    if (amx) return amx;
    return avx512_bf16_pays() ? avx512_bf16_unit() : NULL;
}

const struct unit* bf16_unit(void) {
    /* Callers that come at once choose alike. */
    static _Atomic(const struct unit*) chosen;
    static atomic_bool is_chosen;
    if (!atomic_load_explicit(&is_chosen, memory_order_acquire)) {
        atomic_store_explicit(&chosen, choose(), memory_order_relaxed);
        atomic_store_explicit(&is_chosen, true, memory_order_release);
    }
    return atomic_load_explicit(&chosen, memory_order_relaxed);
}
