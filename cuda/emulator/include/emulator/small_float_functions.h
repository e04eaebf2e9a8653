// The functions that __half and __nv_bfloat16 share by name.
#pragma once

#include "small_float.h"

#define EMULATOR_SMALL template <class Format> inline
#define EMULATOR_X emulator::SmallFloat<Format>
#define EMULATOR_X2 emulator::SmallFloat2<Format>

EMULATOR_SMALL EMULATOR_X __hadd(EMULATOR_X a, EMULATOR_X b) { return a + b; }
EMULATOR_SMALL EMULATOR_X __hsub(EMULATOR_X a, EMULATOR_X b) { return a - b; }
EMULATOR_SMALL EMULATOR_X __hmul(EMULATOR_X a, EMULATOR_X b) { return a * b; }
EMULATOR_SMALL EMULATOR_X __hdiv(EMULATOR_X a, EMULATOR_X b) { return a / b; }
EMULATOR_SMALL EMULATOR_X __hadd_rn(EMULATOR_X a, EMULATOR_X b) { return a + b; }
EMULATOR_SMALL EMULATOR_X __hsub_rn(EMULATOR_X a, EMULATOR_X b) { return a - b; }
EMULATOR_SMALL EMULATOR_X __hmul_rn(EMULATOR_X a, EMULATOR_X b) { return a * b; }
EMULATOR_SMALL EMULATOR_X __hfma(EMULATOR_X a, EMULATOR_X b, EMULATOR_X c) { return emulator::fused(a, b, c); }
EMULATOR_SMALL EMULATOR_X __hneg(EMULATOR_X a) { return -a; }
EMULATOR_SMALL EMULATOR_X __habs(EMULATOR_X a) { return EMULATOR_X::of_bits(a.bits & 0x7fffu); }
EMULATOR_SMALL EMULATOR_X __hmax(EMULATOR_X a, EMULATOR_X b) { return EMULATOR_X(fmaxf(a, b)); }
EMULATOR_SMALL EMULATOR_X __hmin(EMULATOR_X a, EMULATOR_X b) { return EMULATOR_X(fminf(a, b)); }
EMULATOR_SMALL bool __heq(EMULATOR_X a, EMULATOR_X b) { return a == b; }
EMULATOR_SMALL bool __hne(EMULATOR_X a, EMULATOR_X b) { return a != b; }
EMULATOR_SMALL bool __hlt(EMULATOR_X a, EMULATOR_X b) { return a < b; }
EMULATOR_SMALL bool __hle(EMULATOR_X a, EMULATOR_X b) { return a <= b; }
EMULATOR_SMALL bool __hgt(EMULATOR_X a, EMULATOR_X b) { return a > b; }
EMULATOR_SMALL bool __hge(EMULATOR_X a, EMULATOR_X b) { return a >= b; }
EMULATOR_SMALL bool __hisnan(EMULATOR_X a) { return (a.bits & 0x7fffu) > Format::infinity; }
EMULATOR_SMALL int __hisinf(EMULATOR_X a) { return a.bits == Format::infinity ? 1 : a.bits == (Format::infinity | 0x8000u) ? -1 : 0; }

EMULATOR_SMALL EMULATOR_X2 __hadd2(EMULATOR_X2 a, EMULATOR_X2 b) { return a + b; }
EMULATOR_SMALL EMULATOR_X2 __hsub2(EMULATOR_X2 a, EMULATOR_X2 b) { return a - b; }
EMULATOR_SMALL EMULATOR_X2 __hmul2(EMULATOR_X2 a, EMULATOR_X2 b) { return a * b; }
EMULATOR_SMALL EMULATOR_X2 __h2div(EMULATOR_X2 a, EMULATOR_X2 b) { return a / b; }
EMULATOR_SMALL EMULATOR_X2 __hfma2(EMULATOR_X2 a, EMULATOR_X2 b, EMULATOR_X2 c) { return {emulator::fused(a.x, b.x, c.x), emulator::fused(a.y, b.y, c.y)}; }
EMULATOR_SMALL EMULATOR_X2 __hneg2(EMULATOR_X2 a) { return -a; }
EMULATOR_SMALL EMULATOR_X2 __habs2(EMULATOR_X2 a) { return {__habs(a.x), __habs(a.y)}; }
EMULATOR_SMALL EMULATOR_X2 __hmax2(EMULATOR_X2 a, EMULATOR_X2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
EMULATOR_SMALL EMULATOR_X2 __hmin2(EMULATOR_X2 a, EMULATOR_X2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }

#define EMULATOR_SMALL_FUNCTION(name, expression) EMULATOR_SMALL EMULATOR_X name(EMULATOR_X a) { const double x = float(a); return EMULATOR_X(expression); }
EMULATOR_SMALL_FUNCTION(hsqrt, sqrt(x))
EMULATOR_SMALL_FUNCTION(hrsqrt, 1 / sqrt(x))
EMULATOR_SMALL_FUNCTION(hrcp, 1 / x)
EMULATOR_SMALL_FUNCTION(hexp, exp(x))
EMULATOR_SMALL_FUNCTION(hexp2, exp2(x))
EMULATOR_SMALL_FUNCTION(hlog, log(x))
EMULATOR_SMALL_FUNCTION(hlog2, log2(x))
EMULATOR_SMALL_FUNCTION(hsin, sin(x))
EMULATOR_SMALL_FUNCTION(hcos, cos(x))
EMULATOR_SMALL_FUNCTION(htanh, tanh(x))
EMULATOR_SMALL_FUNCTION(hfloor, floor(x))
EMULATOR_SMALL_FUNCTION(hceil, ceil(x))
EMULATOR_SMALL_FUNCTION(htrunc, trunc(x))
EMULATOR_SMALL_FUNCTION(hrint, rint(x))
#undef EMULATOR_SMALL_FUNCTION
#undef EMULATOR_SMALL
#undef EMULATOR_X
#undef EMULATOR_X2
