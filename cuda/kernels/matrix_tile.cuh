/* The product of two tiles of 16-bit numbers by a block's matrix units: asynchronous copies bring panels of both
 * factors into shared memory, STAGES - 1 steps ahead of their use; a warp loads fragments of them, one slice ahead, and
 * adds their products to outputs that stay in its registers. */
#ifndef ASSAYER_MATRIX_TILE_CUH
#define ASSAYER_MATRIX_TILE_CUH

#include "half.cuh"
#include "ptx_matrix.cuh"
#include "reduce.cuh"
#include "turns.cuh"
#include "vector.cuh"

constexpr int CHUNK = 8;  /* numbers in the 16 bytes of one copy, and of one row of a fragment */
constexpr int SLICE = 16; /* of the depth, that one instruction multiplies */

/* ROWS x COLUMNS outputs of a block, of which a warp has WARP_ROWS x WARP_COLUMNS; DEPTH of one step. */
template <int ROWS_, int COLUMNS_, int WARP_ROWS_, int WARP_COLUMNS_, int DEPTH_, int STAGES_, int RESIDENT_>
struct MatrixShape {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, WARP_ROWS = WARP_ROWS_, WARP_COLUMNS = WARP_COLUMNS_;
    static constexpr int DEPTH = DEPTH_, STAGES = STAGES_;
    static constexpr int RESIDENT = RESIDENT_; /* blocks of a multiprocessor that registers leave room for */
    static constexpr int WARPS_ACROSS = COLUMNS / WARP_COLUMNS, WARPS = ROWS / WARP_ROWS * WARPS_ACROSS;
    static constexpr int THREADS = WARP * WARPS;
    static constexpr int DOWN = WARP_ROWS / 16, ACROSS = WARP_COLUMNS / 8; /* fragments of a warp */
    static constexpr int STAGE = (ROWS + COLUMNS) * DEPTH;                 /* numbers */
    static_assert(ACROSS % 2 == 0 && DEPTH % (2 * SLICE) == 0, "columns come in pairs of fragments, slices in pairs");

    static __device__ int warp() { return threadIdx.x / WARP; }
    static __device__ int warp_row() { return warp() / WARPS_ACROSS * WARP_ROWS; }
    static __device__ int warp_column() { return warp() % WARPS_ACROSS * WARP_COLUMNS; }
};

/* A factor: `lines` rows of A or columns of B, `depth` long.  ALONG: the numbers of a line lie side by side, and lines
 * `stride` apart; else those of one depth do.  ALIGNED: what lies side by side is whole, aligned chunks. */
template <bool ALONG_, bool ALIGNED_> struct HalfFactor {
    static constexpr bool ALONG = ALONG_, ALIGNED = ALIGNED_;
    static constexpr int TURN = 0; /* one factor alone */
    const half_bits* data;
    int64_t stride, lines, depth;
};

/* Two factors of as many lines as one, by turns of half of a warp's columns (tile.cuh). */
template <bool ALIGNED_, int TURN_> struct PairedHalfFactor {
    static constexpr bool ALONG = true, ALIGNED = ALIGNED_;
    static constexpr int TURN = TURN_;
    const half_bits *data, *second;
    int64_t stride, lines, depth;
};

/* LINES x DEPTH of a factor in shared memory, as they lie in global memory.  Chunks are swizzled: the eight that a
 * fragment's load reads at once, one below the other, lie in different banks. */
template <int LINES, int DEPTH, bool ALONG> struct HalfPanel {
    static constexpr int ACROSS = (ALONG ? DEPTH : LINES) / CHUNK; /* chunks side by side */
    static constexpr int DOWN = ALONG ? LINES : DEPTH;
    static_assert(ACROSS % 4 == 0, "four chunks side by side fill half of the banks");

    static __device__ int place(int outer, int chunk) {
        const int swizzle = ACROSS % 8 == 0 ? outer & 7 : outer >> 1 & 3;
        return (outer * ACROSS + (chunk ^ swizzle)) * CHUNK;
    }

    static __device__ int place_of(int line, int depth) {
        return ALONG ? place(line, depth / CHUNK) + depth % CHUNK : place(depth, line / CHUNK) + line % CHUNK;
    }

    /* The four 8 x 8 matrices at a line and a depth of which this lane gives one row: those of the next eight lines or
     * of the next eight depths come second. */
    template <bool LINES_SECOND> static __device__ int place_of_lane(int line, int depth) {
        const int matrix = lane_of_thread() / 8, row = lane_of_thread() % 8;
        const int second = matrix % 2 * CHUNK, third = matrix / 2 * CHUNK;
        line += LINES_SECOND ? second : third;
        depth += LINES_SECOND ? third : second;
        return ALONG ? place(line + row, depth / CHUNK) : place(depth + row, line / CHUNK);
    }
};

/* What a thread brings of each panel: COUNT chunks; 0 beyond the factor. */
template <typename Panel, int THREADS, int DEPTH, typename F> struct HalfCarrier {
    static constexpr bool ALONG = F::ALONG;
    static constexpr int COUNT = Panel::DOWN * Panel::ACROSS / THREADS;
    static constexpr int FURTHER = THREADS / Panel::ACROSS; /* from one chunk of a thread to its next, which is below */
    static_assert(COUNT >= 1 && THREADS % Panel::ACROSS == 0, "whole chunks for every thread");

    static constexpr bool TURNS = F::TURN > 0;
    static_assert(steps_keep_turns(FURTHER, F::TURN), "no carry from line to turn");

    const half_bits *next, *other; /* other: where factors take turns, the same place of that which `next` is not of */
    int64_t stride;
    int lines, depth; /* left at the first chunk */

    static __device__ int chunk() { return static_cast<int>(threadIdx.x) % Panel::ACROSS; }
    static __device__ int outer() { return static_cast<int>(threadIdx.x) / Panel::ACROSS; }

    __device__ HalfCarrier(const F& factor, int64_t first) : stride(factor.stride) {
        const int line = ALONG ? outer() : chunk() * CHUNK, k = ALONG ? chunk() * CHUNK : outer();
        depth = static_cast<int>(factor.depth) - k;
        if constexpr (TURNS) {
            const int64_t place = place_in_turns(first + line, F::TURN);
            const bool second = is_second(line, F::TURN);
            next = (second ? factor.second : factor.data) + place * stride + k;
            other = (second ? factor.data : factor.second) + place * stride + k;
            lines = static_cast<int>(factor.lines - place);
        } else {
            next = factor.data + (ALONG ? (first + line) * stride + k : k * stride + first + line);
            other = nullptr;
            lines = static_cast<int>(factor.lines - first) - line;
        }
    }

    /* How many lines, or depths, chunk i is beyond the first. */
    static __device__ constexpr int beyond(int i) {
        return TURNS ? static_cast<int>(place_in_turns(i * FURTHER, F::TURN)) : i * FURTHER;
    }
    __device__ const half_bits* chunk_at(int i) const {
        if constexpr (TURNS)
            if (is_second(i * FURTHER, F::TURN)) return other + beyond(i) * stride;
        return next + beyond(i) * stride;
    }

    /* A chunk of which some numbers lie beyond the factor, or that is not aligned. */
    static __device__ void gather(half_bits* to, const half_bits* from, int lines, int depth) {
        const int along = ALONG ? depth : lines;
        Pack<CHUNK, half_bits> pack = {};
#pragma unroll
        for (int i = 0; i < CHUNK; i++)
            if ((ALONG ? lines : depth) > 0 && i < along) pack.at[i] = from[i];
        memcpy(to, &pack, sizeof pack);
    }

    /* Begins to bring the next step's chunks. */
    __device__ void load(half_bits* panel) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            half_bits* const to = panel + Panel::place(outer() + i * FURTHER, chunk());
            const half_bits* const from = chunk_at(i);
            const int below = beyond(i), lines_left = lines - (ALONG ? below : 0), left = depth - (ALONG ? 0 : below);
            if constexpr (F::ALIGNED) copy_whole(to, from, lines_left > 0 && left > 0);
            else gather(to, from, lines_left, left);
        }
        next += ALONG ? DEPTH : DEPTH * stride;
        if constexpr (TURNS) other += DEPTH;
        depth -= DEPTH;
    }
};

/* d += a . b.  Matrix units cut a sum off where they add to it, which leans: here a slice is summed from 0 and added as
 * float32 is, to nearest, for results that are float32. */
template <typename Number>
__device__ void add_slice(Number number, float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    float slice[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    multiply_fragments(number, slice, a, b);
#pragma unroll
    for (int n = 0; n < 4; n++) d[n] += slice[n];
}

/* The outputs of a lane: of fragment [i][j] those of row lane / 4, columns lane % 4 * 2 and the next, then of the row
 * eight below. */
template <typename Shape> struct MatrixOutputs {
    float sums[Shape::DOWN][Shape::ACROSS][4];

    __device__ void fill(float value) {
#pragma unroll
        for (int i = 0; i < Shape::DOWN; i++)
#pragma unroll
            for (int j = 0; j < Shape::ACROSS; j++)
#pragma unroll
                for (int n = 0; n < 4; n++) sums[i][j][n] = value;
    }
};

/* The units of sm_75 and later, which multiply sixteen rows by eight columns. */
struct WarpUnits {
    /* What a warp multiplies at once: of its rows and of its columns, one slice of the depth. */
    template <typename Shape, typename PanelA, typename PanelB, bool A_ALONG, bool B_ALONG> struct Fragments {
        uint32_t a[Shape::DOWN][4], b[Shape::ACROSS][2];

        __device__ void load(const half_bits* stage, int slice) {
            const half_bits* const columns = stage + Shape::ROWS * Shape::DEPTH;
#pragma unroll
            for (int i = 0; i < Shape::DOWN; i++)
                load_fragments<!A_ALONG>(
                    a[i], stage + PanelA::template place_of_lane<true>(Shape::warp_row() + 16 * i, slice * SLICE));
#pragma unroll
            for (int j = 0; j < Shape::ACROSS; j += 2) {
                uint32_t pair[4];
                load_fragments<!B_ALONG>(
                    pair, columns + PanelB::template place_of_lane<false>(Shape::warp_column() + 8 * j, slice * SLICE));
                b[j][0] = pair[0], b[j][1] = pair[1], b[j + 1][0] = pair[2], b[j + 1][1] = pair[3];
            }
        }

        /* SEPARATE: as add_slice does. */
        template <typename Number, bool SEPARATE> __device__ void add_to(MatrixOutputs<Shape>& outputs) const {
#pragma unroll
            for (int i = 0; i < Shape::DOWN; i++)
#pragma unroll
                for (int j = 0; j < Shape::ACROSS; j++) {
                    if constexpr (SEPARATE) add_slice(Number(), outputs.sums[i][j], a[i], b[j]);
                    else multiply_fragments(Number(), outputs.sums[i][j], a[i], b[j]);
                }
        }
    };

    /* The row of sixteen, and the column, where a lane has number 2 * half, and beside it the next, of fragment j. */
    static __device__ int row(int half) { return lane_of_thread() / 4 + 8 * half; }
    static __device__ int column(int j) { return 8 * j + lane_of_thread() % 4 * 2; }
};

/* Adds the product of A's lines from `row` and B's from `column` to the outputs, in the order of the depth.  `stages`:
 * Shape::STAGES * Shape::STAGE numbers of shared memory; whoever uses it next waits for the block first. */
template <typename Units, typename Number, bool SEPARATE, typename Shape, typename A, typename B>
__device__ void multiply_matrix_tile(const A& a, const B& b, int64_t row, int64_t column, half_bits* stages,
                                     MatrixOutputs<Shape>& outputs) {
    constexpr int AHEAD = Shape::STAGES - 1, SLICES = Shape::DEPTH / SLICE;
    using PanelA = HalfPanel<Shape::ROWS, Shape::DEPTH, A::ALONG>;
    using PanelB = HalfPanel<Shape::COLUMNS, Shape::DEPTH, B::ALONG>;
    HalfCarrier<PanelA, Shape::THREADS, Shape::DEPTH, A> a_next(a, row);
    HalfCarrier<PanelB, Shape::THREADS, Shape::DEPTH, B> b_next(b, column);
    typename Units::template Fragments<Shape, PanelA, PanelB, A::ALONG, B::ALONG> fragments[2];
    const int steps = static_cast<int>((a.depth + Shape::DEPTH - 1) / Shape::DEPTH);
    const auto bring = [&](int step, int stage) {
        if (step < steps) {
            a_next.load(stages + stage * Shape::STAGE);
            b_next.load(stages + stage * Shape::STAGE + Shape::ROWS * Shape::DEPTH);
        }
        end_copies(); /* an empty group too: so many groups back is so many steps back */
    };
#pragma unroll
    for (int step = 0; step < AHEAD; step++) bring(step, step);
    wait_for_copies<AHEAD - 1>();
    __syncthreads();
    fragments[0].load(stages, 0);
    int now = 0, free = AHEAD;
    for (int step = 0; step < steps; step++) {
#pragma unroll
        for (int slice = 0; slice < SLICES; slice++) {
            if (slice == SLICES - 1) {
                wait_for_copies<AHEAD - 1>(); /* the next step's are there, */
                __syncthreads();              /* everybody's, and nobody reads this step's panels any more */
                now = now + 1 == Shape::STAGES ? 0 : now + 1;
            }
            fragments[(slice + 1) % 2].load(stages + now * Shape::STAGE, (slice + 1) % SLICES);
            if (slice == 0) {
                bring(step + AHEAD, free);
                free = free + 1 == Shape::STAGES ? 0 : free + 1;
            }
            fragments[slice % 2].template add_to<Number, SEPARATE>(outputs);
        }
    }
}

#endif
