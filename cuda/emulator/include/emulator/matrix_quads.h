// mma.m8n8k4 of sm_70: four products at once, each of a group of four lanes and the group 16 lanes on.
#pragma once

#include "matrix.h"

namespace emulator {

// PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type".  `own`: the lane's own row or column, whose numbers
// along k it holds; otherwise it holds those of all four, at its own k.
struct PlaceInQuads {
    static constexpr unsigned own(unsigned lane) { return lane % 4 + (lane < 16 ? 0 : 4); }
    static constexpr Place2D half_of_c(unsigned lane, unsigned i) { return {own(lane), i}; }
    static constexpr Place2D float_of_c(unsigned lane, unsigned i) { return {(lane & 1) + (i & 2) + (lane < 16 ? 0 : 4), (i & 4) + (lane & 2) + (i & 1)}; }
};

template <class C, class D, bool a_by_rows, bool b_by_rows>
struct QuadProduct {
    struct Input {
        uint32_t a[2], b[2], c[8 / Kept<C>::per_register];
    };
    struct Output {
        uint32_t d[8 / Kept<D>::per_register];
    };
    // Row (of A) or column (of B), and place along k, of the i-th number of a lane.
    static constexpr Place2D factor(unsigned lane, unsigned i, bool along_k) {
        return along_k ? Place2D{PlaceInQuads::own(lane), i} : Place2D{i + (lane < 16 ? 0 : 4), lane % 4};
    }
    template <class Format>
    static constexpr Place2D sum(unsigned lane, unsigned i) {
        return Kept<Format>::per_register == 1 ? PlaceInQuads::float_of_c(lane, i) : PlaceInQuads::half_of_c(lane, i);
    }
    EMULATOR_UNCHECKED static void all(const Input* lanes, Output* results, unsigned mask) {
        require_whole_warp(mask);
        if (architecture() != 70) trap("mma.m8n8k4, of which it is known on sm_70 alone what it computes");
        const MatrixUnit unit = matrix_unit(Operands::half, 70, "mma.m8n8k4");
        for (unsigned quad = 0; quad < 4; quad++) {
            Factors<4> a[8], b[8];
            uint32_t sums[8][8];
            const auto for_quad = [&](auto action) {
                for (unsigned lane = quad * 4; lane < 32; lane += lane % 4 == 3 ? 13 : 1) action(lane);
            };
            for_quad([&](unsigned lane) {
                for (unsigned i = 0; i < 4; i++) {
                    const Place2D in_a = factor(lane, i, a_by_rows), in_b = factor(lane, i, !b_by_rows);
                    a[in_a.row].set(in_a.col, Float16Bits::decode(number_in<Float16Bits>(lanes[lane].a, i)));
                    b[in_b.row].set(in_b.col, Float16Bits::decode(number_in<Float16Bits>(lanes[lane].b, i)));
                }
                for (unsigned i = 0; i < 8; i++) sums[sum<C>(lane, i).row][sum<C>(lane, i).col] = number_in<C>(lanes[lane].c, i);
            });
            for_quad([&](unsigned lane) {
                for (unsigned i = 0; i < 8; i++) {
                    const Place2D at = sum<D>(lane, i);
                    put_number<D>(results[lane].d, i, whole_product<D, C>(a[at.row], b[at.col], sums[at.row][at.col], unit, 2 * Float16Bits::fraction));
                }
            });
        }
    }
};

// mma.sync.aligned.m8n8k4.ROWS.COLS.D.f16.f16.C; d and c: 8 float, or 4 registers of two half.
template <bool a_by_rows, bool b_by_rows, class D, class C, unsigned d_count, unsigned c_count>
inline void mma_m8n8k4(D (&d)[d_count], const uint32_t (&a)[2], const uint32_t (&b)[2], const C (&c)[c_count], EMULATOR_HERE) {
    using P = QuadProduct<typename AccumulatorOf<C>::Type, typename AccumulatorOf<D>::Type, a_by_rows, b_by_rows>;
    static_assert(sizeof(typename P::Output) == sizeof d && sizeof(P::Input::c) == sizeof c, "an mma.m8n8k4 sums up 8 float or 4 pairs of half");
    typename P::Input mine{{a[0], a[1]}, {b[0], b[1]}, {}};
    for (unsigned i = 0; i < c_count; i++) mine.c[i] = bit_cast<uint32_t>(c[i]);
    const auto result = together<P, typename P::Output>("mma.m8n8k4", whole_warp, mine, place);
    for (unsigned i = 0; i < d_count; i++) d[i] = bit_cast<D>(result.d[i]);
}

}  // namespace emulator
