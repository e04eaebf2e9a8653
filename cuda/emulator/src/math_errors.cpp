// Mathematical functions that err by as much as CUDA documents (ASSAYER_EMULATOR_MATH_ERRORS), while the host's own err by less
// than one unit.  The linker calls these in place of the host's (--wrap in emulator.cmake), which are __real_...
//
// How much: CUDA C++ programming guide, "Mathematical functions", the maximum error of the single-precision functions: units in
// the last place between a result and the correctly rounded one.
#include "math_errors.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "settings.h"

namespace emulator {
namespace {

uint32_t bits_of(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

// Mixes as the finaliser of SplitMix64 does (Steele, Lea and Flood 2014).
uint64_t mixed(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

bool is_special(float x) { return x == 0 || std::isnan(x) || std::isinf(x); }

}  // namespace

bool functions_err() {
    static const bool err = settings().math_errors != 0;
    return err;
}

float with_error(double exact, unsigned units, uint32_t function, float x, float y) {
    const float rounded = static_cast<float>(exact);
    // What is documented of special arguments, exp(0) = 1 and log(1) = 0 among them, holds to the bit.
    if (is_special(x) || is_special(rounded)) return rounded;
    const uint64_t key = settings().math_errors + (uint64_t{function} << 32);
    const bool away = mixed(mixed(key ^ bits_of(x)) + bits_of(y)) & 1;
    const uint32_t magnitude = bits_of(rounded) & 0x7fffffffu, sign = bits_of(rounded) & 0x80000000u;
    const uint32_t moved = away ? magnitude + units : magnitude > units ? magnitude - units : 0;
    const uint32_t largest = 0x7f7fffffu;
    const uint32_t bits = sign | (moved < largest ? moved : largest);
    float result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
}

}  // namespace emulator

using emulator::functions_err;
using emulator::with_error;

#define EMULATOR_ERRS(name, units, number)                                                             \
    extern "C" float __real_##name##f(float);                                                         \
    extern "C" float __wrap_##name##f(float x) {                                                      \
        return functions_err() ? with_error(name(double{x}), units, number, x) : __real_##name##f(x); \
    }

EMULATOR_ERRS(exp, 2, 1)
EMULATOR_ERRS(exp2, 2, 2)
EMULATOR_ERRS(expm1, 1, 3)
EMULATOR_ERRS(log, 1, 4)
EMULATOR_ERRS(log1p, 1, 5)
EMULATOR_ERRS(sin, 2, 6)
EMULATOR_ERRS(cos, 2, 7)
EMULATOR_ERRS(tanh, 2, 8)
EMULATOR_ERRS(erf, 2, 9)

extern "C" void __real_sincosf(float, float*, float*);
extern "C" void __wrap_sincosf(float x, float* sine, float* cosine) {
    if (!functions_err()) return __real_sincosf(x, sine, cosine);
    const float y = __wrap_cosf(x);  // before sine, which may lie where x did
    *sine = __wrap_sinf(x);
    *cosine = y;
}

extern "C" float __real_powf(float, float);
extern "C" float __wrap_powf(float x, float y) {
    if (!functions_err() || x == 1 || emulator::is_special(y)) return __real_powf(x, y);
    return with_error(pow(double{x}, double{y}), 4, 10, x, y);
}

float rsqrtf(float x) {
    const double exact = 1.0 / sqrt(double{x});
    return functions_err() ? with_error(exact, 2, 11, x) : static_cast<float>(exact);
}

float normcdff(float x) {
    const double exact = 0.5 * erfc(-double{x} * 0.70710678118654752440);
    return functions_err() ? with_error(exact, 5, 12, x) : static_cast<float>(exact);
}
