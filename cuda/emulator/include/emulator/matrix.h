// The products of tensor cores, with the layout over lanes and registers that PTX documents, and ldmatrix.
//
// A kernel reaches them through its own header of inline PTX, whose form for the CPU calls these.  Products are exact, sums
// are taken in float in the order of k; a tensor core adds in another order and truncates, so last bits differ.
#pragma once

#include "barrier.h"
#include "small_float.h"
#include "warp.h"

namespace emulator {

constexpr unsigned whole_warp = 0xffffffffu;

inline void require_whole_warp(unsigned mask) {
    if (mask != whole_warp) trap("a matrix instruction without all 32 lanes of its warp");
}

// Which number of A (16 x k), B (k x 8) and C (16 x 8) is where: PTX ISA, "Matrix Fragments for mma.m16n8k16 with
// floating point type", and likewise for the others.  i counts the numbers that a lane holds.
struct Place2D {
    unsigned row, col;
};
template <unsigned per_register> struct PairsOfLane;
template <> struct PairsOfLane<2> {  // 16-bit numbers
    static constexpr Place2D a(unsigned lane, unsigned i) { return {lane / 4 + (i / 2 % 2) * 8, lane % 4 * 2 + i % 2 + i / 4 * 8}; }
    static constexpr Place2D b(unsigned lane, unsigned i) { return {lane % 4 * 2 + i % 2 + i / 2 * 8, lane / 4}; }
};
template <> struct PairsOfLane<1> {  // 32-bit numbers
    static constexpr Place2D a(unsigned lane, unsigned i) { return {lane / 4 + i % 2 * 8, lane % 4 + i / 2 * 4}; }
    static constexpr Place2D b(unsigned lane, unsigned i) { return {lane % 4 + i * 4, lane / 4}; }
};
constexpr Place2D place_of_c(unsigned lane, unsigned i) { return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2}; }

// How a register's bits are read as numbers.
template <class Format>
struct Halves {
    static constexpr unsigned per_register = 2;
    static float number(const uint32_t* registers, unsigned i) { return Format::to_float(static_cast<uint16_t>(registers[i / 2] >> i % 2 * 16)); }
};
struct TensorFloat32 {
    static constexpr unsigned per_register = 1;
    static float number(const uint32_t* registers, unsigned i) { return bit_cast<float>(registers[i] & ~0x1fffu); }  // 10 bits of fraction
};

template <class Numbers, unsigned k>
struct Product {
    static constexpr unsigned a_registers = 16 * k / 32 / Numbers::per_register, b_registers = 8 * k / 32 / Numbers::per_register;
    struct Operands {
        uint32_t a[a_registers], b[b_registers];
        float c[4];
    };
    struct Result {
        float d[4];
    };
    static void all(const Operands* lanes, Result* results, unsigned mask) {
        require_whole_warp(mask);
        using Layout = PairsOfLane<Numbers::per_register>;
        float a[16][k], b[k][8];
        for (unsigned lane = 0; lane < 32; lane++) {
            for (unsigned i = 0; i < 16 * k / 32; i++) a[Layout::a(lane, i).row][Layout::a(lane, i).col] = Numbers::number(lanes[lane].a, i);
            for (unsigned i = 0; i < 8 * k / 32; i++) b[Layout::b(lane, i).row][Layout::b(lane, i).col] = Numbers::number(lanes[lane].b, i);
        }
        for (unsigned lane = 0; lane < 32; lane++) {
            for (unsigned i = 0; i < 4; i++) {
                const Place2D at = place_of_c(lane, i);
                float sum = lanes[lane].c[i];
                for (unsigned j = 0; j < k; j++) sum += a[at.row][j] * b[j][at.col];
                results[lane].d[i] = sum;
            }
        }
    }
};

template <class Numbers, unsigned k>
inline void multiply(const char* name, float* d, const uint32_t* a, const uint32_t* b, const float* c, Place place) {
    using P = Product<Numbers, k>;
    typename P::Operands mine;
    for (unsigned i = 0; i < P::a_registers; i++) mine.a[i] = a[i];
    for (unsigned i = 0; i < P::b_registers; i++) mine.b[i] = b[i];
    for (unsigned i = 0; i < 4; i++) mine.c[i] = c[i];
    const auto result = together<P, typename P::Result>(name, whole_warp, mine, place);
    for (unsigned i = 0; i < 4; i++) d[i] = result.d[i];
}

// mma.sync.aligned.m16n8k16.row.col.f32.T.T.f32, T f16 or bf16 (SmallFloat<Format>).
template <class T> struct FormatOf;
template <class Format> struct FormatOf<SmallFloat<Format>> { using Type = Format; };
template <class T>
inline void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4], EMULATOR_HERE) {
    multiply<Halves<typename FormatOf<T>::Type>, 16>("mma.m16n8k16", d, a, b, c, place);
}
// mma.sync.aligned.m16n8k8.row.col.f32.T.T.f32
template <class T>
inline void mma_m16n8k8(float (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1], const float (&c)[4], EMULATOR_HERE) {
    multiply<Halves<typename FormatOf<T>::Type>, 8>("mma.m16n8k8", d, a, b, c, place);
}
// mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32: of each register the lowest 13 bits are ignored.
inline void mma_m16n8k8_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4], EMULATOR_HERE) {
    multiply<TensorFloat32, 8>("mma.m16n8k8.tf32", d, a, b, c, place);
}

// ldmatrix.sync.aligned.m8n8.xCOUNT[.trans].shared.b16: lane 8 i + j gives the address of row j of matrix i, 16 bytes.
template <unsigned count, bool transposed>
struct MatrixLoad {
    struct Numbers {
        const uint16_t* at[count][2];  // each lane reads its own numbers, so that reports name the right thread
    };
    static void all(const uint16_t* const* rows, Numbers* results, unsigned mask) {
        require_whole_warp(mask);
        for (unsigned lane = 0; lane < 32; lane++) {
            for (unsigned i = 0; i < count; i++) {
                for (unsigned half = 0; half < 2; half++) {
                    const unsigned pair = lane % 4 * 2 + half, other = lane / 4;
                    results[lane].at[i][half] = transposed ? rows[8 * i + pair] + other : rows[8 * i + other] + pair;
                }
            }
        }
    }
};
template <unsigned count, bool transposed = false>
inline void ldmatrix(uint32_t (&registers)[count], const void* row, EMULATOR_HERE) {
    static_assert(count == 1 || count == 2 || count == 4, "ldmatrix loads 1, 2 or 4 matrices");
    if (running_thread->lane < 8 * count && reinterpret_cast<uintptr_t>(row) % 16 != 0) trap("ldmatrix of a row that is not aligned to 16 bytes");
    using Load = MatrixLoad<count, transposed>;
    const auto numbers = together<Load, typename Load::Numbers>("ldmatrix", whole_warp, static_cast<const uint16_t*>(row), place);
    for (unsigned i = 0; i < count; i++) registers[i] = *numbers.at[i][0] | static_cast<uint32_t>(*numbers.at[i][1]) << 16;
}

}  // namespace emulator
