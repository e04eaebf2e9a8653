// The matrix instructions of a warp: products of tensor cores, with the layout over lanes and registers that PTX documents
// and the numbers that the architecture chosen computes (tensor_core.h), ldmatrix and stmatrix.
//
// A kernel reaches them through inline PTX, which rewrite/ turns into these calls, or calls them itself.
#pragma once

#include "barrier.h"
#include "tensor_core.h"
#include "warp.h"

namespace emulator {

constexpr unsigned whole_warp = 0xffffffffu;

inline void require_whole_warp(unsigned mask) {
    if (mask != whole_warp) trap("a matrix instruction without all 32 lanes of its warp");
}

// The formats of operands, by the names of their C++ types.
template <class T> struct OperandOf;
template <> struct OperandOf<SmallFloat<Binary16>> { using Type = Float16Bits; };
template <> struct OperandOf<SmallFloat<Brain16>> { using Type = BFloat16Bits; };
template <> struct OperandOf<E4M3> { using Type = E4M3; };
template <> struct OperandOf<E5M2> { using Type = E5M2; };
template <> struct OperandOf<TensorFloat32Bits> { using Type = TensorFloat32Bits; };

template <class Format> struct Kept;  // how operands of a format lie in registers
template <> struct Kept<Float16Bits> { static constexpr Operands operands = Operands::half; static constexpr unsigned per_register = 2; };
template <> struct Kept<BFloat16Bits> { static constexpr Operands operands = Operands::bfloat16; static constexpr unsigned per_register = 2; };
template <> struct Kept<TensorFloat32Bits> { static constexpr Operands operands = Operands::tf32; static constexpr unsigned per_register = 1; };
template <> struct Kept<E4M3> { static constexpr Operands operands = Operands::fp8; static constexpr unsigned per_register = 4; };
template <> struct Kept<E5M2> { static constexpr Operands operands = Operands::fp8; static constexpr unsigned per_register = 4; };
template <> struct Kept<Float32Bits> { static constexpr unsigned per_register = 1; };

// The i-th number of a lane, as bits; what is above them does not matter.
template <class Format>
inline uint32_t number_in(const uint32_t* registers, unsigned i) {
    constexpr unsigned n = Kept<Format>::per_register;
    return registers[i / n] >> i % n * (32 / n);
}
template <class Format>
inline void put_number(uint32_t* registers, unsigned i, uint32_t bits) {
    constexpr unsigned n = Kept<Format>::per_register;
    if (i % n == 0) registers[i / n] = 0;
    registers[i / n] |= bits << i % n * (32 / n);
}

// Which number of A (16 x k), B (k x 8) and C (16 x 8) is where: PTX ISA, "Matrix Fragments for mma.m16n8k16 with
// floating point type", and likewise for the others.  i counts the numbers that a lane holds, n those of a register.
struct Place2D {
    unsigned row, col;
};
template <unsigned n> constexpr Place2D place_of_a(unsigned lane, unsigned i) { return {lane / 4 + i / n % 2 * 8, lane % 4 * n + i % n + i / (2 * n) * 4 * n}; }
template <unsigned n> constexpr Place2D place_of_b(unsigned lane, unsigned i) { return {lane % 4 * n + i % n + i / n * 4 * n, lane / 4}; }
constexpr Place2D place_of_c(unsigned lane, unsigned i) { return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2}; }

// mma.m16n8k: A and B of formats of the same width, C and D float32 or half.
template <class A, class B, class C, class D, unsigned k>
struct Product {
    static constexpr unsigned n = Kept<A>::per_register, a_registers = 16 * k / 32 / n, b_registers = 8 * k / 32 / n;
    static constexpr unsigned c_registers = 4 / Kept<C>::per_register, d_registers = 4 / Kept<D>::per_register;
    struct Input {
        const char* name;
        unsigned least;  // architecture
        uint32_t a[a_registers], b[b_registers], c[c_registers];
    };
    struct Output {
        uint32_t d[d_registers];
    };
    EMULATOR_UNCHECKED static void all(const Input* lanes, Output* results, unsigned mask) {
        require_whole_warp(mask);
        const MatrixUnit unit = matrix_unit(Kept<A>::operands, lanes[0].least, lanes[0].name);
        Factors<k> a[16], b[8];
        for (unsigned lane = 0; lane < 32; lane++) {
            for (unsigned i = 0; i < a_registers * n; i++) {
                const Place2D at = place_of_a<n>(lane, i);
                set_factor<A>(a[at.row], at.col, number_in<A>(lanes[lane].a, i), unit);
            }
            for (unsigned i = 0; i < b_registers * n; i++) {
                const Place2D at = place_of_b<n>(lane, i);
                set_factor<B>(b[at.col], at.row, number_in<B>(lanes[lane].b, i), unit);
            }
        }
        for (unsigned lane = 0; lane < 32; lane++) {
            for (unsigned i = 0; i < 4; i++) {
                const Place2D at = place_of_c(lane, i);
                const uint32_t c = number_in<C>(lanes[lane].c, i);
                put_number<D>(results[lane].d, i, whole_product<D, C>(a[at.row], b[at.col], c, unit, A::fraction + B::fraction));
            }
        }
    }
};

// Whether an accumulator is float32 or, in pairs, half, the type of its registers says.
template <class Register> struct AccumulatorOf;
template <> struct AccumulatorOf<float> { using Type = Float32Bits; };
template <> struct AccumulatorOf<uint32_t> { using Type = Float16Bits; };

template <class A, class B, unsigned k, class D, class C, unsigned d_count, unsigned a_count, unsigned b_count, unsigned c_count>
inline void multiply(const char* name, unsigned least, D (&d)[d_count], const uint32_t (&a)[a_count], const uint32_t (&b)[b_count],
                     const C (&c)[c_count], Place place) {
    using P = Product<A, B, typename AccumulatorOf<C>::Type, typename AccumulatorOf<D>::Type, k>;
    static_assert(a_count == P::a_registers && b_count == P::b_registers && c_count == P::c_registers && d_count == P::d_registers,
                  "an mma with another number of registers than the instruction has");
    typename P::Input mine;
    mine.name = name;
    mine.least = least;
    for (unsigned i = 0; i < a_count; i++) mine.a[i] = a[i];
    for (unsigned i = 0; i < b_count; i++) mine.b[i] = b[i];
    for (unsigned i = 0; i < c_count; i++) mine.c[i] = bit_cast<uint32_t>(c[i]);
    const auto result = together<P, typename P::Output>(name, whole_warp, mine, place);
    for (unsigned i = 0; i < d_count; i++) d[i] = bit_cast<D>(result.d[i]);
}

// mma.sync.aligned.m16n8k16.row.col.f32.T.T.f32, T __half or __nv_bfloat16; with registers of two half, .f16.f16.f16.f16.
template <class T>
inline void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4], EMULATOR_HERE) {
    multiply<typename OperandOf<T>::Type, typename OperandOf<T>::Type, 16>("mma.m16n8k16", 80, d, a, b, c, place);
}
template <class T>
inline void mma_m16n8k16(uint32_t (&d)[2], const uint32_t (&a)[4], const uint32_t (&b)[2], const uint32_t (&c)[2], EMULATOR_HERE) {
    static_assert(std::is_same<T, SmallFloat<Binary16>>::value, "sums are kept in half where the factors are");
    multiply<Float16Bits, Float16Bits, 16>("mma.m16n8k16", 80, d, a, b, c, place);
}
// mma.sync.aligned.m16n8k8.row.col.f32.T.T.f32, and .f16.f16.f16.f16.
template <class T>
inline void mma_m16n8k8(float (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const float (&c)[4], EMULATOR_HERE) {
    multiply<typename OperandOf<T>::Type, typename OperandOf<T>::Type, 8>("mma.m16n8k8", 75, d, a, b, c, place);
}
template <class T>
inline void mma_m16n8k8(uint32_t (&d)[2], const uint32_t (&a)[2], const uint32_t (&b)[1], const uint32_t (&c)[2], EMULATOR_HERE) {
    static_assert(std::is_same<T, SmallFloat<Binary16>>::value, "sums are kept in half where the factors are");
    multiply<Float16Bits, Float16Bits, 8>("mma.m16n8k8", 75, d, a, b, c, place);
}
// mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32, and m16n8k4: of each register the lowest 13 bits are ignored.
inline void mma_m16n8k8_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4], EMULATOR_HERE) {
    multiply<TensorFloat32Bits, TensorFloat32Bits, 8>("mma.m16n8k8", 80, d, a, b, c, place);
}
inline void mma_m16n8k4_tf32(float (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const float (&c)[4], EMULATOR_HERE) {
    multiply<TensorFloat32Bits, TensorFloat32Bits, 4>("mma.m16n8k4", 80, d, a, b, c, place);
}
// mma.sync.aligned.m16n8k32.row.col.f32.A.B.f32 and .f16.A.B.f16: A and B E4M3 or E5M2, four to a register.
template <class A, class B>
inline void mma_m16n8k32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4], EMULATOR_HERE) {
    multiply<A, B, 32>("mma.m16n8k32", 89, d, a, b, c, place);
}
template <class A, class B>
inline void mma_m16n8k32(uint32_t (&d)[2], const uint32_t (&a)[4], const uint32_t (&b)[2], const uint32_t (&c)[2], EMULATOR_HERE) {
    multiply<A, B, 32>("mma.m16n8k32", 89, d, a, b, c, place);
}

}  // namespace emulator

#include "matrix_quads.h"
#include "matrix_rows.h"
