/* The product of two tiles of 16-bit numbers in float32, for results that stay float32 where the depth is short.
 *
 * What a matrix unit cuts off a slice leans by a part of the sum that does not depend on the depth.  Additions to
 * nearest err by chance, by a part that grows with the root of how many they are: only deep sums hide what leans. */
#ifndef ASSAYER_MATRIX_FLOAT_CUH
#define ASSAYER_MATRIX_FLOAT_CUH

#include "matrix_quads.cuh"

/* The depth up to which sums are left to float32.  Of positive products of many sizes, float16's, slices lean by less
 * than half of what float32's roundings come to past 64 terms (sm_90), 256 (sm_75, sm_80), 1,024 (sm_70). */
constexpr int deepest_in_float_of(int units) { return units >= 90 ? 64 : units >= 75 ? 256 : 1024; }
#if defined(ASSAYER_EMULATED)
inline int deepest_in_float() { return deepest_in_float_of(emulator::architecture()); }
#else
constexpr int DEEPEST_IN_FLOAT = deepest_in_float_of(UNITS_OF);
__device__ constexpr int deepest_in_float() { return DEEPEST_IN_FLOAT; }
#endif

/* The numbers of a lane's rows, or of its columns, at one depth of a panel. */
template <typename Format, typename Panel, int COUNT, typename Lines>
__device__ void widen_lines(float (&to)[COUNT][2], const half_bits* panel, int depth, const Lines& line) {
#pragma unroll
    for (int i = 0; i < COUNT; i++)
#pragma unroll
        for (int n = 0; n < 2; n++) to[i][n] = Format::widen(panel[Panel::place_of(line(i, n), depth)]);
}

/* As multiply_matrix_tile, and to the same lanes; two of the stages are used, one being filled while one is read. */
template <typename Units, typename Format, typename Shape, typename A, typename B>
__device__ void multiply_tile_in_float(const A& a, const B& b, int64_t row, int64_t column, half_bits* stages,
                                       MatrixOutputs<Shape>& outputs) {
    using PanelA = HalfPanel<Shape::ROWS, Shape::DEPTH, A::ALONG>;
    using PanelB = HalfPanel<Shape::COLUMNS, Shape::DEPTH, B::ALONG>;
    HalfCarrier<PanelA, Shape::THREADS, Shape::DEPTH, A> a_next(a, row);
    HalfCarrier<PanelB, Shape::THREADS, Shape::DEPTH, B> b_next(b, column);
    const int steps = static_cast<int>((a.depth + Shape::DEPTH - 1) / Shape::DEPTH);
    const auto rows_at = [&](int step) { return stages + step % 2 * Shape::STAGE; };
    const auto bring = [&](int step) {
        if (step < steps) {
            a_next.load(rows_at(step));
            b_next.load(rows_at(step) + Shape::ROWS * Shape::DEPTH);
        }
        end_copies();
    };
    bring(0);
    for (int step = 0; step < steps; step++) {
        bring(step + 1);
        wait_for_copies<1>();
        __syncthreads();
        const half_bits *const of_a = rows_at(step), *const of_b = of_a + Shape::ROWS * Shape::DEPTH;
#pragma unroll 1
        for (int k = 0; k < Shape::DEPTH; k++) {
            float rows[Shape::DOWN][2], columns[Shape::ACROSS][2];
            widen_lines<Format, PanelA>(rows, of_a, k,
                                        [](int i, int half) { return Shape::warp_row() + 16 * i + Units::row(half); });
            widen_lines<Format, PanelB>(columns, of_b, k,
                                        [](int j, int n) { return Shape::warp_column() + Units::column(j) + n; });
#pragma unroll
            for (int i = 0; i < Shape::DOWN; i++)
#pragma unroll
                for (int j = 0; j < Shape::ACROSS; j++)
#pragma unroll
                    for (int n = 0; n < 4; n++)
                        outputs.sums[i][j][n] = fmaf(rows[i][n / 2], columns[j][n % 2], outputs.sums[i][j][n]);
        }
        __syncthreads(); /* nobody reads this stage any more */
    }
}

#endif
