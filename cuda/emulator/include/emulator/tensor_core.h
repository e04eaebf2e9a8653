// What one tensor core computes, to the last bit: products exact, every term cut to a common exponent, the sum cut.
//
// Whole numbers only: significands, exponents, shifts, one count of leading zeros.  The parameters of each architecture stand
// in src/tensor_core.cpp, with what they were held to.
#pragma once

#include "small_float.h"

namespace emulator {

enum class Operands { half, bfloat16, tf32, fp8 };

// How a sum is formed: of `length` products and the accumulator at once, cut to `fraction` digits behind the point of the
// largest; a float32 result keeps `kept` digits.  by_halves: fp8 without hardware for it (see as_half).
struct MatrixUnit {
    unsigned length, fraction, kept;
    bool by_halves;
};
// That of the architecture chosen.  An instruction that it lacks, as it is older than `least` or has no unit for the operands,
// is an error that names both.
MatrixUnit matrix_unit(Operands operands, unsigned least, const char* instruction);
void require_architecture(unsigned least, const char* instruction);  // of what does not multiply
unsigned architecture();                                             // 80 for sm_80

// significand * 2^(exponent - digits of the fraction); subnormal numbers are not normalised, and zero is below everything.
struct Decoded {
    int32_t significand, exponent;
    unsigned char kind;
};
enum Kind : unsigned char { finite, infinite, not_a_number };
constexpr int32_t below_all = -(1 << 20);

template <unsigned exponent_digits, unsigned fraction_digits, bool has_infinities = true>
struct Binary {
    static constexpr unsigned fraction = fraction_digits, width = 1 + exponent_digits + fraction_digits;
    static constexpr int bias = (1 << (exponent_digits - 1)) - 1, most = bias;
    static Decoded decode(uint32_t bits) {
        constexpr uint32_t all_ones = (1u << exponent_digits) - 1, unit = 1u << fraction;
        const uint32_t exponent = bits >> fraction & all_ones, rest = bits & (unit - 1);
        const bool negative = bits >> (width - 1) & 1;
        if (exponent == all_ones && (has_infinities || rest == unit - 1)) {
            return {negative ? -1 : 1, 0, has_infinities && rest == 0 ? infinite : not_a_number};
        }
        const auto magnitude = static_cast<int32_t>(exponent ? rest | unit : rest);
        if (magnitude == 0) return {0, below_all, finite};
        return {negative ? -magnitude : magnitude, static_cast<int32_t>(exponent ? exponent : 1) - bias, finite};
    }
};
using Float32Bits = Binary<8, 23>;
using Float16Bits = Binary<5, 10>;
using BFloat16Bits = Binary<8, 7>;
struct TensorFloat32Bits : Binary<8, 10> {  // the low 13 bits of a float32 are cut
    static Decoded decode(uint32_t bits) { return Binary<8, 10>::decode(bits >> 13); }
};
using E4M3 = Binary<4, 3, false>;
using E5M2 = Binary<5, 2>;

// Numbers that are multiplied with others, side by side so that a compiler makes vectors of them.
template <unsigned k>
struct Factors {
    int32_t significand[k], exponent[k];
    unsigned char kind[k];
    bool any_special = false;
    void set(unsigned i, const Decoded& number) {
        significand[i] = number.significand;
        exponent[i] = number.exponent;
        kind[i] = number.kind;
        any_special |= number.kind != finite;
    }
};

// A result before it is rounded: units * 2^exponent, or what no finite number is.
struct ExactSum {
    int64_t units;
    int32_t exponent;
    unsigned char kind;
};

// Infinities and NaN by the rules of IEEE 754; only the kind and the sign of units mean anything.
template <unsigned k>
ExactSum special_sum(const Factors<k>& a, const Factors<k>& b, unsigned begin, unsigned end, const Decoded& c) {
    bool up = c.kind == infinite && c.significand > 0, down = c.kind == infinite && c.significand < 0, none = c.kind == not_a_number;
    for (unsigned i = begin; i < end; i++) {
        if (a.kind[i] == finite && b.kind[i] == finite) continue;
        const bool zero = a.significand[i] == 0 || b.significand[i] == 0;
        none |= zero || a.kind[i] == not_a_number || b.kind[i] == not_a_number;
        ((a.significand[i] < 0) == (b.significand[i] < 0) ? up : down) = true;
    }
    if (none || (up && down)) return {0, 0, not_a_number};
    return {up ? 1 : -1, 0, infinite};
}

template <unsigned length, unsigned k>
inline ExactSum add_up(const Factors<k>& a, const Factors<k>& b, unsigned begin, unsigned digits, const Decoded& c, unsigned c_digits, unsigned fraction) {
    int32_t products[length], exponents[length], most = c.exponent;
    for (unsigned i = 0; i < length; i++) {
        products[i] = a.significand[begin + i] * b.significand[begin + i];
        exponents[i] = a.exponent[begin + i] + b.exponent[begin + i];
        most = exponents[i] > most ? exponents[i] : most;
    }
    const auto cut = [](int64_t magnitude, int32_t by) { return magnitude >> (by < 63 ? by : 63); };
    int64_t sum = cut(int64_t{c.significand < 0 ? -c.significand : c.significand} << fraction, static_cast<int32_t>(c_digits) + most - c.exponent);
    if (c.significand < 0) sum = -sum;
    for (unsigned i = 0; i < length; i++) {
        const int32_t sign = products[i] >> 31, lower = most - exponents[i];
        const int32_t term = (((products[i] ^ sign) - sign) << (fraction - digits)) >> (lower < 31 ? lower : 31);
        sum += (term ^ sign) - sign;
    }
    return {sum, most - static_cast<int32_t>(fraction), finite};
}

// One piece of an instruction: `length` products from `begin` on, and c.
template <unsigned k>
inline ExactSum sum_of_piece(const Factors<k>& a, const Factors<k>& b, unsigned begin, unsigned length, unsigned digits, const Decoded& c,
                             unsigned c_digits, unsigned fraction) {
    if (a.any_special || b.any_special || c.kind != finite) {
        bool special = c.kind != finite;
        for (unsigned i = begin; i < begin + length; i++) special |= a.kind[i] != finite || b.kind[i] != finite;
        if (special) return special_sum(a, b, begin, begin + length, c);
    }
    if constexpr (k >= 32) {
        if (length == 32) return add_up<32>(a, b, begin, digits, c, c_digits, fraction);
    }
    if constexpr (k >= 16) {
        if (length == 16) return add_up<16>(a, b, begin, digits, c, c_digits, fraction);
    }
    if constexpr (k >= 8) {
        if (length == 8) return add_up<8>(a, b, begin, digits, c, c_digits, fraction);
    }
    return add_up<4>(a, b, begin, digits, c, c_digits, fraction);
}

// A sum as a register holds it.  Result: float32, cut toward zero, or float16, to nearest even; subnormal numbers are kept.
template <class Result>
inline uint32_t rounded(const ExactSum& sum, unsigned kept) {
    constexpr bool cuts = Result::fraction == Float32Bits::fraction;
    constexpr uint32_t infinity = ((1u << (Result::width - 1 - Result::fraction)) - 1) << Result::fraction;
    const uint32_t sign = (sum.units < 0 ? 1u : 0u) << (Result::width - 1);
    if (sum.kind == not_a_number) return (1u << (Result::width - 1)) - 1;
    if (sum.kind == infinite) return sign | infinity;
    if (sum.units == 0) return 0;
    uint64_t magnitude = static_cast<uint64_t>(sum.units < 0 ? -sum.units : sum.units);
    constexpr int least = 1 - Result::bias;
    int exponent = 63 - __builtin_clzll(magnitude) + sum.exponent;
    const int by = (exponent < least ? least : exponent) - static_cast<int>(Result::fraction) - sum.exponent;  // to the last place
    if (by > 62) {
        magnitude = 0;  // below half of the least number: fewer than 62 digits are there
    } else if (by > 0) {
        const uint64_t half = uint64_t{1} << (by - 1), rest = magnitude & (2 * half - 1);
        magnitude >>= by;
        if (!cuts) magnitude += rest > half || (rest == half && magnitude & 1);
    } else {
        magnitude <<= -by;
    }
    // A subnormal number that rounding makes normal, and one that it makes as large as the next power, have the bits of such.
    const uint64_t bits = (static_cast<uint64_t>(exponent < least ? 0 : exponent - least) << Result::fraction) + magnitude;
    const uint32_t mask = cuts ? ~((1u << (Result::fraction - kept)) - 1) : ~0u;
    return bits >= infinity ? sign | infinity : sign | (static_cast<uint32_t>(bits) & mask);
}

// fp8 without hardware for it runs as two products of half: k mod 4 in {0, 1}, and then {2, 3}.  Numbers of half are normal
// where those of fp8 were not.
template <class A>
inline Decoded as_half(Decoded number) {
    number.significand *= 1 << (Float16Bits::fraction - A::fraction);
    while (number.kind == finite && number.significand && std::abs(number.significand) < 1 << Float16Bits::fraction && number.exponent > 1 - Float16Bits::bias) {
        number.significand *= 2;
        number.exponent--;
    }
    return number;
}
template <class A, unsigned k>
inline void set_factor(Factors<k>& factors, unsigned i, uint32_t bits, const MatrixUnit& unit) {
    if (unit.by_halves) factors.set(i / 4 * 2 + i % 2 + (i % 4 >= 2 ? k / 2 : 0), as_half<A>(A::decode(bits)));
    else factors.set(i, A::decode(bits));
}

template <class Result>
inline uint32_t sum_to_nearest(uint32_t x, uint32_t y) {
    if constexpr (Result::fraction == Float32Bits::fraction) {
        const float sum = bit_cast<float>(x) + bit_cast<float>(y);
        return sum != sum ? 0x7fffffffu : bit_cast<uint32_t>(sum);
    } else {
        return Binary16::from_float(Binary16::to_float(static_cast<uint16_t>(x)) + Binary16::to_float(static_cast<uint16_t>(y)));
    }
}

// c + the sum of all products as the unit forms it, piece by piece, each added to the result of the one before.  `digits`
// are those of the products' fractions: A's and B's.
template <class Result, class C, unsigned k>
inline uint32_t whole_product(const Factors<k>& a, const Factors<k>& b, uint32_t c, const MatrixUnit& unit, unsigned digits) {
    const unsigned length = unit.length < k ? unit.length : k;
    if (unit.by_halves) digits = 2 * Float16Bits::fraction;
    const Decoded from = unit.by_halves ? Decoded{0, below_all, finite} : C::decode(c);
    uint32_t bits = rounded<Result>(sum_of_piece(a, b, 0, length, digits, from, C::fraction, unit.fraction), unit.kept);
    for (unsigned begin = length; begin < k; begin += length) {
        bits = rounded<Result>(sum_of_piece(a, b, begin, length, digits, Result::decode(bits), Result::fraction, unit.fraction), unit.kept);
    }
    return unit.by_halves ? sum_to_nearest<Result>(bits, c) : bits;
}

}  // namespace emulator
