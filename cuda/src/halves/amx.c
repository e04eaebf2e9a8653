/* AMX: the processor's tiles.  Linux gives them to a process that asks (arch_prctl, Documentation/arch/x86/xstate). */
#define _DEFAULT_SOURCE /* syscall() */
#include "unit.h"

#if defined(__x86_64__) && defined(__linux__) && \
    ((defined(__clang__) && __clang_major__ >= 11) || (!defined(__clang__) && __GNUC__ >= 11))
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TILES __attribute__((target("amx-tile,amx-bf16")))
/* gcc 11 and 12 believe that no more than 8 bytes of the shapes are read. */
#define CONFIGURE(shapes)                               \
    do {                                                \
        __asm__ volatile("" : : "r"(shapes) : "memory"); \
        _tile_loadconfig(shapes);                       \
    } while (0)
#define RELEASE() _tile_release()
#define LOAD(tile, from, stride) _tile_loadd(tile, from, stride)
#define ZERO(tile) _tile_zero(tile)
#define DOT(is_fp16, sums, left, right)                 \
    do {                                                \
        if (is_fp16) DOT_FP16(sums, left, right);       \
        else _tile_dpbf16ps(sums, left, right);         \
    } while (0)
/* TDPFP16PS sums, left, right: VEX.128.F2.0F38.W0 5C /r.  By its bytes: gcc before 13 and binutils before 2.40 do not know it. */
#define DOT_FP16(sums, left, right) \
    __asm__ volatile(".byte 0xc4, 0xe2, %c0, 0x5c, %c1" : : "i"((~(right)&15) << 3 | 3), "i"(0xc0 | (sums) << 3 | (left)))
#define STORE(tile, to, stride) _tile_stored(tile, to, stride)
#include "tiles.h"

/* Whether processor and system have tiles, and the system lets this process use them. */
static bool is_permitted(void) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    enum { OSXSAVE = 1 << 27, AMX_TILE = 1 << 24, TILE_STATE = 3 << 17 };
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 }; /* <asm/prctl.h> of Linux 5.16 */
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE)) return false;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & AMX_TILE)) return false;
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & TILE_STATE) == TILE_STATE && syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

const struct unit* amx_unit(void) {
    static const struct unit unit = {"amx", UNIT_AMX, STRIP_ROWS, true, multiply_bf16};
    unsigned a = 0, b = 0, c = 0, d = 0;
    enum { AMX_BF16 = 1 << 22 };
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && d & AMX_BF16 && is_permitted() ? &unit : NULL;
}

const struct unit* amx_fp16_unit(void) {
    static const struct unit unit = {"amx", UNIT_AMX, STRIP_ROWS, false, multiply_fp16};
    unsigned a = 0, b = 0, c = 0, d = 0;
    enum { AMX_FP16 = 1 << 21 };
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && a & AMX_FP16 && is_permitted() ? &unit : NULL;
}
#else
const struct unit* amx_unit(void) { return 0; }
const struct unit* amx_fp16_unit(void) { return 0; }
#endif
