// Integer and conversion intrinsics, bits of numbers, clocks, and questions about addresses.
#pragma once

#include "atomics.h"

inline int __float_as_int(float x) { return emulator::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return emulator::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return emulator::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return emulator::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return emulator::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return emulator::bit_cast<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(emulator::bit_cast<uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(emulator::bit_cast<uint64_t>(x)); }

namespace emulator {
// A conversion to an integer saturates, and NaN becomes 0, as on a GPU.
template <class I, class F>
inline I to_integer(F x) {
    constexpr F low = static_cast<F>(std::numeric_limits<I>::min()), high = static_cast<F>(std::numeric_limits<I>::max());
    if (x != x) return 0;
    return x <= low ? std::numeric_limits<I>::min() : x >= high ? std::numeric_limits<I>::max() : static_cast<I>(x);
}
}  // namespace emulator
inline int __float2int_rn(float x) { return emulator::to_integer<int>(rintf(x)); }
inline int __float2int_rz(float x) { return emulator::to_integer<int>(truncf(x)); }
inline int __float2int_rd(float x) { return emulator::to_integer<int>(floorf(x)); }
inline int __float2int_ru(float x) { return emulator::to_integer<int>(ceilf(x)); }
inline unsigned __float2uint_rn(float x) { return emulator::to_integer<unsigned>(rintf(x)); }
inline unsigned __float2uint_rz(float x) { return emulator::to_integer<unsigned>(truncf(x)); }
inline long long __float2ll_rn(float x) { return emulator::to_integer<long long>(rintf(x)); }
inline long long __double2ll_rn(double x) { return emulator::to_integer<long long>(rint(x)); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int i = 0; i < 32; i++) reversed |= (x >> i & 1) << (31 - i);
    return reversed;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32); }
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<int64_t>(a) * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<unsigned long long>(static_cast<Wide>(a) * b >> 64);
}
inline int __mul24(int a, int b) { return static_cast<int>(static_cast<unsigned>(a << 8 >> 8) * static_cast<unsigned>(b << 8 >> 8)); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31));
}
// Byte i of the result is byte (selector nibble i) & 7 of y:x, or its sign where the nibble's top bit is set.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const uint64_t bytes = static_cast<uint64_t>(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned nibble = selector >> 4 * i & 15;
        unsigned byte = static_cast<unsigned>(bytes >> 8 * (nibble & 7)) & 255;
        if (nibble & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}
inline int __dp4a(int a, int b, int sum) {
    for (int i = 0; i < 4; i++) sum += static_cast<int8_t>(a >> 8 * i) * static_cast<int8_t>(b >> 8 * i);
    return sum;
}

namespace emulator {
long long clock();                        // a counter that goes up
bool is_shared(const void* address);      // lies in the running block's shared memory
}  // namespace emulator
inline long long clock64() { return emulator::clock(); }
#define __isShared(address) (::emulator::is_shared(address))
