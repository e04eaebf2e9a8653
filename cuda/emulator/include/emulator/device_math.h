// CUDA's mathematical functions and intrinsics that the host's <math.h> lacks.
//
// Approximate ones (__expf, __fdividef) are computed as well as the exact ones: a kernel that is only right when they are
// has to be tried on a GPU.
#pragma once

#include "thread.h"

// glibc declares functions of these names, so they have to be macros.
#define __expf(x) (::expf(x))
#define __exp10f(x) (::exp10f(x))
#define __logf(x) (::logf(x))
#define __log2f(x) (::log2f(x))
#define __log10f(x) (::log10f(x))
#define __sinf(x) (::sinf(x))
#define __cosf(x) (::cosf(x))
#define __tanf(x) (::tanf(x))
#define __powf(x, y) (::powf(x, y))
#define __sincosf(x, sine, cosine) (::sincosf(x, sine, cosine))

float rsqrtf(float x);
float normcdff(float x);
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float normf(int n, const float* x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += static_cast<double>(x[i]) * x[i];
    return static_cast<float>(sqrt(sum));
}
inline float sinpif(float x) { return static_cast<float>(sin(3.14159265358979323846 * fmod(x, 2.0))); }
inline float cospif(float x) { return static_cast<float>(cos(3.14159265358979323846 * fmod(x, 2.0))); }
inline float erfcxf(float x) { return static_cast<float>(exp(static_cast<double>(x) * x) * erfc(static_cast<double>(x))); }

// The _rn functions round once and are never fused with what surrounds them.
namespace emulator {
template <class T>
inline T unfused(T x) {
#if defined(__x86_64__)
    __asm__("" : "+x"(x));
#elif defined(__aarch64__)
    __asm__("" : "+w"(x));
#endif
    return x;
}
}  // namespace emulator
inline float __fadd_rn(float a, float b) { return emulator::unfused(a + b); }
inline float __fsub_rn(float a, float b) { return emulator::unfused(a - b); }
inline float __fmul_rn(float a, float b) { return emulator::unfused(a * b); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __frsqrt_rn(float a) { return static_cast<float>(1.0 / sqrt(static_cast<double>(a))); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return emulator::unfused(a + b); }
inline double __dsub_rn(double a, double b) { return emulator::unfused(a - b); }
inline double __dmul_rn(double a, double b) { return emulator::unfused(a * b); }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float a) { return !(a > 0) ? 0.0f : a > 1 ? 1.0f : a; }

// min, max: of floating types the one that is a number, as in CUDA.
namespace emulator {
template <class A, class B>
using Common = std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value, std::common_type_t<A, B>>;
}
template <class A, class B>
inline constexpr emulator::Common<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    const T x = static_cast<T>(a), y = static_cast<T>(b);
    if constexpr (std::is_floating_point<T>::value) {
        return x != x || x < y ? y : x;
    } else {
        return x < y ? y : x;
    }
}
template <class A, class B>
inline constexpr emulator::Common<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    const T x = static_cast<T>(a), y = static_cast<T>(b);
    if constexpr (std::is_floating_point<T>::value) {
        return x != x || y < x ? y : x;
    } else {
        return y < x ? y : x;
    }
}
inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }

// Loads and stores with a hint about caches.
#define EMULATOR_LOAD(name) template <class T> inline T name(const T* address) { return *address; }
#define EMULATOR_STORE(name) template <class T> inline void name(T* address, emulator::Given<T> value) { *address = value; }
EMULATOR_LOAD(__ldg)
EMULATOR_LOAD(__ldca)
EMULATOR_LOAD(__ldcg)
EMULATOR_LOAD(__ldcs)
EMULATOR_LOAD(__ldlu)
EMULATOR_LOAD(__ldcv)
EMULATOR_STORE(__stwb)
EMULATOR_STORE(__stcg)
EMULATOR_STORE(__stcs)
EMULATOR_STORE(__stwt)
#undef EMULATOR_LOAD
#undef EMULATOR_STORE
