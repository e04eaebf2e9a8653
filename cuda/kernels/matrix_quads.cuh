/* A tile's product by the matrix units of sm_70: four products of 8 x 8 x 4 at once, each by four lanes and the four
 * sixteen further (PTX ISA, mma.m8n8k4), which together make one of 16 x 16 x 4.  A lane has twice the numbers of a
 * factor that it would have for the units of sm_75: of tiles of a warp of 64 x 64 registers do not hold them.
 *
 * A factor needs no transposition: the instruction takes either as it lies, depths side by side (a lane has one line's)
 * or lines (a lane has one depth's of four lines). */
#ifndef ASSAYER_MATRIX_QUADS_CUH
#define ASSAYER_MATRIX_QUADS_CUH

#include "matrix_tile.cuh"

constexpr int QUAD_DEPTH = 4;                  /* of one instruction */
constexpr int QUAD_STEPS = SLICE / QUAD_DEPTH; /* of a slice */
constexpr int QUAD_REGISTERS = 2 * QUAD_STEPS; /* of a slice, of sixteen lines of a factor */

/* Which of the four products a lane is part of, and its lower or upper four lines. */
__device__ inline int quad_of_lane() { return lane_of_thread() / 4 % 4; }
__device__ inline int lines_of_lane() { return lane_of_thread() / 16 * 4; }

/* Sixteen lines of a panel, from `line` on, of a slice of their depth; a lane has those of the first or of the second
 * eight. */
template <typename Panel, bool ALONG>
__device__ void load_quads(uint32_t (&to)[QUAD_REGISTERS], const half_bits* panel, int line, int second, int slice) {
    const int eight = line + second * CHUNK, lane = lane_of_thread() % 4;
    if constexpr (ALONG) {
#pragma unroll
        for (int c = 0; c < SLICE / CHUNK; c++) {
            const int from = Panel::place(eight + lines_of_lane() + lane, slice * (SLICE / CHUNK) + c);
            const float4 chunk = *reinterpret_cast<const float4*>(panel + from);
            memcpy(&to[c * 4], &chunk, sizeof chunk);
        }
    } else {
#pragma unroll
        for (int step = 0; step < QUAD_STEPS; step++) {
            const int from = Panel::place(slice * SLICE + step * QUAD_DEPTH + lane, eight / CHUNK) + lines_of_lane();
            const float2 four = *reinterpret_cast<const float2*>(panel + from);
            memcpy(&to[step * 2], &four, sizeof four);
        }
    }
}

struct QuadUnits {
    /* As Fragments: of a warp's rows and columns, sixteen by sixteen. */
    template <typename Shape, typename PanelA, typename PanelB, bool A_ALONG, bool B_ALONG> struct Fragments {
        static constexpr int PAIRS = Shape::ACROSS / 2;
        uint32_t a[Shape::DOWN][QUAD_REGISTERS], b[PAIRS][QUAD_REGISTERS];

        __device__ void load(const half_bits* stage, int slice) {
            const half_bits* const columns = stage + Shape::ROWS * Shape::DEPTH;
#pragma unroll
            for (int i = 0; i < Shape::DOWN; i++)
                load_quads<PanelA, A_ALONG>(a[i], stage, Shape::warp_row() + 16 * i, quad_of_lane() / 2, slice);
#pragma unroll
            for (int j = 0; j < PAIRS; j++)
                load_quads<PanelB, B_ALONG>(b[j], columns, Shape::warp_column() + 16 * j, quad_of_lane() % 2, slice);
        }

        /* SEPARATE: a slice is summed from 0, as add_slice does. */
        template <typename Number, bool SEPARATE> __device__ void add_to(MatrixOutputs<Shape>& outputs) const {
#pragma unroll
            for (int i = 0; i < Shape::DOWN; i++)
#pragma unroll
                for (int j = 0; j < PAIRS; j++) {
                    float (&left)[4] = outputs.sums[i][2 * j], (&right)[4] = outputs.sums[i][2 * j + 1];
                    float sums[8];
#pragma unroll
                    for (int n = 0; n < 8; n++) sums[n] = SEPARATE ? 0.0f : (n < 4 ? left[n] : right[n - 4]);
#pragma unroll
                    for (int step = 0; step < QUAD_STEPS; step++) {
                        const uint32_t rows[2] = {a[i][2 * step], a[i][2 * step + 1]};
                        const uint32_t columns[2] = {b[j][2 * step], b[j][2 * step + 1]};
                        multiply_quads<A_ALONG, B_ALONG>(sums, rows, columns);
                    }
#pragma unroll
                    for (int n = 0; n < 4; n++) {
                        left[n] = SEPARATE ? left[n] + sums[n] : sums[n];
                        right[n] = SEPARATE ? right[n] + sums[n + 4] : sums[n + 4];
                    }
                }
        }
    };

    /* The row of sixteen, and the column, where a lane has number 2 * half, and beside it the next, of fragment j. */
    static __device__ int row(int half) {
        return quad_of_lane() / 2 * 8 + lines_of_lane() + lane_of_thread() % 2 + 2 * half;
    }
    static __device__ int column(int j) {
        return j / 2 * 16 + quad_of_lane() % 2 * 8 + j % 2 * 4 + (lane_of_thread() & 2);
    }
};

/* Whether a block multiplies by these units; the emulator knows when it runs. */
#if defined(ASSAYER_EMULATED)
constexpr bool MAY_HAVE_QUADS = true;
inline bool has_quads() { return emulator::architecture() < 75; }
#else
constexpr bool MAY_HAVE_QUADS = UNITS_OF < 75;
__device__ constexpr bool has_quads() { return MAY_HAVE_QUADS; }
#endif
template <typename Number, typename Shape>
constexpr bool BY_QUADS =
    MAY_HAVE_QUADS && std::is_same_v<Number, __half> && Shape::WARP_ROWS * Shape::WARP_COLUMNS <= 32 * 32;

#endif
