/* Chooses the vector routines once: the widest instruction set that both this build and this processor have.  The
 * environment variable ASSAYER_SIMD (baseline, avx2 or avx512) asks for a narrower one; the capability "vector_bits" tells
 * which is in use. */
#include "simd.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(variant)                                                                                                   \
    void fill_elementwise_##variant(struct simd*);                                                                         \
    void fill_activations_##variant(struct simd*);                                                                         \
    void fill_losses_##variant(struct simd*);                                                                              \
    void fill_optimizer_##variant(struct simd*);                                                                           \
    void fill_rows_##variant(struct simd*);                                                                                \
    void fill_norms_##variant(struct simd*);                                                                               \
    void fill_dropout_##variant(struct simd*);                                                                             \
    void fill_batchnorm_##variant(struct simd*);                                                                           \
    void fill_pooling_##variant(struct simd*);                                                                             \
    void fill_pooling_backward_##variant(struct simd*);                                                                    \
    void fill_recurrent_##variant(struct simd*);                                                                           \
    void fill_multiply_##variant(struct simd*);                                                                            \
    void fill_half_##variant(struct simd*);                                                                                \
    void fill_half_rows_##variant(struct simd*);                                                                           \
    void fill_pairs_##variant(struct simd*);                                                                               \
    void fill_few_rows_##variant(struct simd*);                                                                            \
    void fill_short_rows_##variant(struct simd*);                                                                          \
    void fill_convolution_##variant(struct simd*);                                                                         \
    void fill_strided_##variant(struct simd*);                                                                             \
    void fill_joins_##variant(struct simd*);                                                                               \
    void fill_layout_##variant(struct simd*);
#define FILL(variant, table)                                                                                               \
    (fill_elementwise_##variant(table), fill_activations_##variant(table), fill_losses_##variant(table),                   \
     fill_optimizer_##variant(table), fill_rows_##variant(table), fill_norms_##variant(table),                             \
     fill_dropout_##variant(table), fill_batchnorm_##variant(table), fill_pooling_##variant(table),                        \
     fill_pooling_backward_##variant(table), fill_recurrent_##variant(table), fill_multiply_##variant(table),              \
     fill_half_##variant(table), fill_half_rows_##variant(table), fill_pairs_##variant(table),                             \
     fill_convolution_##variant(table), fill_strided_##variant(table), fill_joins_##variant(table),                           \
     fill_layout_##variant(table), fill_few_rows_##variant(table), fill_short_rows_##variant(table))

DECLARE(baseline)
#ifdef ASSAYER_X86_VARIANTS
DECLARE(avx2)
DECLARE(avx512)
#endif

/* True where the environment does not ask for a narrower set than this one. */
static bool wanted(const char* variant) {
    const char* asked = getenv("ASSAYER_SIMD");
    if (!asked) return true;
    if (strcmp(asked, "baseline") == 0) return false;
    return strcmp(asked, "avx2") != 0 || strcmp(variant, "avx2") == 0;
}

static void choose(struct simd* table) {
#ifdef ASSAYER_X86_VARIANTS
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (avx512 && wanted("avx512")) {
        FILL(avx512, table);
        return;
    }
    if (avx2 && wanted("avx2")) {
        FILL(avx2, table);
        return;
    }
#else
    (void)wanted;
#endif
    FILL(baseline, table);
}

const struct simd* simd(void) {
    /* The first caller chooses; others that come meanwhile wait the microsecond it takes. */
    static struct simd table;
    static atomic_int state; /* 0 not chosen, 1 being chosen, 2 chosen */
    int expected = 0;
    if (atomic_load_explicit(&state, memory_order_acquire) == 2) return &table;
    if (atomic_compare_exchange_strong(&state, &expected, 1)) {
        choose(&table);
        atomic_store_explicit(&state, 2, memory_order_release);
    }
    while (atomic_load_explicit(&state, memory_order_acquire) != 2) continue;
    return &table;
}
