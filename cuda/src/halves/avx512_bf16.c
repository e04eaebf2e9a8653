/* AVX-512 BF16: vdpbf16ps adds the product of the upper numbers of each pair, then that of the lower ones, to a float32 sum.
 *
 * A register tile of up to 14 rows by two panels: 28 sums, 2 vectors of B and one pair of A in 32 registers.  Bound by the rate of
 * vdpbf16ps.  AMD's processors issue as many of them as fused multiply-adds of float32, each with twice the products.  Intel's issue one
 * every second cycle beside four of the others (measured on family 6, model 207: 0.71 and 0.18 ns): half the products of float32. */
#include "unit.h"

#if defined(__x86_64__) && ((defined(__clang__) && __clang_major__ >= 11) || (!defined(__clang__) && __GNUC__ >= 10))
#include <cpuid.h>
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bf16")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { ROWS = 14, PANELS = 2 };

/* rows and panels are constants wherever this is inlined. */
INLINE void tile(int rows, int panels, const struct unit_call* call, const uint16_t* b, float* sums) {
    __m512 sum[ROWS][PANELS];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < panels; j++)
            sum[i][j] = call->adds ? _mm512_loadu_ps(sums + i * call->row + j * PAIR_WIDTH) : _mm512_setzero_ps();
    const uint16_t* a = call->strip;
    for (int64_t step = 0; step < call->steps; step++, a += rows * PAIR_DEPTH)
        for (int k = 0; k < PAIR_DEPTH; k += 2, b += 2 * PAIR_WIDTH) {
            __m512i column[PANELS];
            for (int j = 0; j < panels; j++) column[j] = _mm512_loadu_si512(b + j * call->panel_stride);
            for (int i = 0; i < rows; i++) {
                int32_t pair;
                __builtin_memcpy(&pair, a + i * PAIR_DEPTH + k, sizeof pair);
                const __m512i factor = _mm512_set1_epi32(pair);
                for (int j = 0; j < panels; j++) sum[i][j] = _mm512_dpbf16_ps(sum[i][j], (__m512bh)factor, (__m512bh)column[j]);
            }
        }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < panels; j++) _mm512_storeu_ps(sums + i * call->row + j * PAIR_WIDTH, sum[i][j]);
}

#define CASE(count)                                                                                                        \
    case count:                                                                                                            \
        if (panels == PANELS) tile(count, PANELS, call, b, sums);                                                          \
        else tile(count, 1, call, b, sums);                                                                                \
        break;

TARGET static void multiply(const struct unit_call* call) {
    for (int j = 0; j < call->panel_count; j += PANELS) {
        const int panels = call->panel_count - j < PANELS ? 1 : PANELS;
        const uint16_t* const b = call->panels + j * call->panel_stride;
        float* const sums = call->sums + j * PAIR_WIDTH;
        switch (call->rows) {
            CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14)
        default: break;
        }
    }
}

const struct unit* avx512_bf16_unit(void) {
    static const struct unit unit = {"avx512_bf16", UNIT_AVX512_BF16, ROWS, true, multiply};
    unsigned a = 0, b = 0, c = 0, d = 0;
    enum { AVX512_BF16 = 1 << 5 };
    __builtin_cpu_init();
    const bool has = __builtin_cpu_supports("avx512f") && __get_cpuid_count(7, 1, &a, &b, &c, &d) && a & AVX512_BF16;
    return has ? &unit : NULL;
}

bool avx512_bf16_pays(void) {
    __builtin_cpu_init();
    return !__builtin_cpu_is("intel");
}
#else
bool avx512_bf16_pays(void) { return false; }
const struct unit* avx512_bf16_unit(void) { return 0; }
#endif
