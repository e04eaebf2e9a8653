// Floating-point types of 16 bits.  Arithmetic is done in float and rounded after each operation, which for +, -, *, / and
// square roots of these types gives the correctly rounded result (Figueroa 1995: float has more than twice the digits, and 2).
#pragma once

#include "atomics.h"
#include "device_math.h"
#include "warp.h"

namespace emulator {

// IEEE binary16: 1 sign bit, 5 of exponent, 10 of fraction.
struct Binary16 {
    static uint16_t from_float(float x) {
        if (x != x) return 0x7fff;
        const uint32_t bits = bit_cast<uint32_t>(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
        if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);  // 2^16 and beyond
        if (magnitude < 0x38800000) {                                               // subnormal: units of 2^-24
            const float units = bit_cast<float>(magnitude) * 16777216.0f;
            return static_cast<uint16_t>(sign | static_cast<uint32_t>(rintf(units)));
        }
        const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);  // to nearest, ties to even; may carry over
        return static_cast<uint16_t>(sign | (rounded - 0x38000000) >> 13);
    }
    static float to_float(uint16_t bits) {
        const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, rest = bits & 0x7fff;
        if (rest >= 0x7c00) return bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);
        if (rest < 0x400) return bit_cast<float>(sign | bit_cast<uint32_t>(static_cast<float>(rest) * 5.9604644775390625e-8f));
        return bit_cast<float>(sign | ((rest << 13) + 0x38000000));
    }
    static constexpr uint16_t infinity = 0x7c00;
};

// bfloat16: the upper half of a float.
struct Brain16 {
    static uint16_t from_float(float x) {
        if (x != x) return 0x7fff;
        const uint32_t bits = bit_cast<uint32_t>(x);
        return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    static float to_float(uint16_t bits) { return bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
    static constexpr uint16_t infinity = 0x7f80;
};

// A double rounded to float so that a second rounding, to 16 bits, comes out as if there had been one: an inexact result
// gets an odd last digit ("round to odd", Boldo and Melquiond 2008).
inline float to_odd(double x, double error) {
    const float nearest = static_cast<float>(x);
    if (nearest != nearest || fabsf(nearest) == INFINITY) return nearest;
    const double rest = x - static_cast<double>(nearest) + error;
    const uint32_t bits = bit_cast<uint32_t>(nearest);
    if (rest == 0 || bits & 1) return nearest;
    if (nearest == 0) return bit_cast<float>(rest < 0 ? 0x80000001u : 1u);
    return bit_cast<float>((rest > 0) == (nearest > 0) ? bits + 1 : bits - 1);
}

template <class Format>
struct alignas(2) SmallFloat {
    uint16_t bits;

    SmallFloat() = default;
    SmallFloat(float x) : bits(Format::from_float(x)) {}
    SmallFloat(double x) : bits(Format::from_float(to_odd(x, 0))) {}
    template <class Integer, class = std::enable_if_t<std::is_integral<Integer>::value>>
    SmallFloat(Integer x) : SmallFloat(static_cast<double>(x)) {}
    operator float() const { return Format::to_float(bits); }
    static SmallFloat of_bits(unsigned bits) {
        SmallFloat x;
        x.bits = static_cast<uint16_t>(bits);
        return x;
    }

    friend SmallFloat operator+(SmallFloat a, SmallFloat b) { return SmallFloat(float(a) + float(b)); }
    friend SmallFloat operator-(SmallFloat a, SmallFloat b) { return SmallFloat(float(a) - float(b)); }
    friend SmallFloat operator*(SmallFloat a, SmallFloat b) { return SmallFloat(float(a) * float(b)); }
    friend SmallFloat operator/(SmallFloat a, SmallFloat b) { return SmallFloat(float(a) / float(b)); }
    friend SmallFloat operator-(SmallFloat a) { return of_bits(a.bits ^ 0x8000u); }
    friend SmallFloat operator+(SmallFloat a) { return a; }
    friend bool operator==(SmallFloat a, SmallFloat b) { return float(a) == float(b); }
    friend bool operator!=(SmallFloat a, SmallFloat b) { return float(a) != float(b); }
    friend bool operator<(SmallFloat a, SmallFloat b) { return float(a) < float(b); }
    friend bool operator<=(SmallFloat a, SmallFloat b) { return float(a) <= float(b); }
    friend bool operator>(SmallFloat a, SmallFloat b) { return float(a) > float(b); }
    friend bool operator>=(SmallFloat a, SmallFloat b) { return float(a) >= float(b); }
    SmallFloat& operator+=(SmallFloat b) { return *this = *this + b; }
    SmallFloat& operator-=(SmallFloat b) { return *this = *this - b; }
    SmallFloat& operator*=(SmallFloat b) { return *this = *this * b; }
    SmallFloat& operator/=(SmallFloat b) { return *this = *this / b; }
};

template <class Format>
struct alignas(4) SmallFloat2 {
    SmallFloat<Format> x, y;
    SmallFloat2() = default;
    SmallFloat2(SmallFloat<Format> x_, SmallFloat<Format> y_) : x(x_), y(y_) {}
    friend SmallFloat2 operator+(SmallFloat2 a, SmallFloat2 b) { return {a.x + b.x, a.y + b.y}; }
    friend SmallFloat2 operator-(SmallFloat2 a, SmallFloat2 b) { return {a.x - b.x, a.y - b.y}; }
    friend SmallFloat2 operator*(SmallFloat2 a, SmallFloat2 b) { return {a.x * b.x, a.y * b.y}; }
    friend SmallFloat2 operator/(SmallFloat2 a, SmallFloat2 b) { return {a.x / b.x, a.y / b.y}; }
    friend SmallFloat2 operator-(SmallFloat2 a) { return {-a.x, -a.y}; }
    SmallFloat2& operator+=(SmallFloat2 b) { return *this = *this + b; }
    SmallFloat2& operator*=(SmallFloat2 b) { return *this = *this * b; }
};

template <class Format> struct Travels<SmallFloat<Format>> : std::true_type {};
template <class Format> struct Travels<SmallFloat2<Format>> : std::true_type {};

// a * b + c with one rounding: the product is exact in double, the sum's error is found (Knuth's two-sum) and not lost.
template <class Format>
inline SmallFloat<Format> fused(SmallFloat<Format> a, SmallFloat<Format> b, SmallFloat<Format> c) {
    const double product = double{float(a)} * double{float(b)}, addend = float(c), sum = unfused(product + addend);
    const double part = unfused(sum - product), error = unfused(product - unfused(sum - part)) + unfused(addend - part);
    return SmallFloat<Format>::of_bits(Format::from_float(to_odd(sum, error != error ? 0 : error)));
}

}  // namespace emulator

#include "small_float_functions.h"
