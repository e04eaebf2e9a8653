/* The register-tiled product of two tiles: operands go from global memory through registers into shared memory, one
 * step ahead of their use, and each thread sums an 8 x 8 block of outputs. */
#ifndef ASSAYER_TILE_CUH
#define ASSAYER_TILE_CUH

#include "reduce.cuh"
#include "turns.cuh"
#include "vector.cuh"

constexpr int DEPTH = 8;                         /* of one step */
constexpr int WARP_ROWS = 32, WARP_COLUMNS = 64; /* of outputs; the lanes stand 4 x 8 */
constexpr int BLOCK_ROWS = 8, BLOCK_COLUMNS = 8; /* of one thread: four by four, in two halves of the warp's tile */

/* ROWS x COLUMNS outputs of a block. */
template <int ROWS_, int COLUMNS_> struct TileShape {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_;
    static constexpr int WARPS_DOWN = ROWS / WARP_ROWS, WARPS_ACROSS = COLUMNS / WARP_COLUMNS;
    static constexpr int THREADS = WARP * WARPS_DOWN * WARPS_ACROSS;
    static constexpr int RESIDENT = THREADS >= 256 ? 2 : 1; /* blocks of quads that registers leave room for */
};

/* A factor: `lines` rows of A or columns of B, `depth` long.  ALONG_DEPTH: the elements of a line lie side by side, and
 * lines `stride` apart; else those of one depth do.  QUADS: what lies side by side is whole, aligned quads. */
template <bool ALONG_DEPTH_, bool QUADS_> struct Factor {
    static constexpr bool ALONG_DEPTH = ALONG_DEPTH_, QUADS = QUADS_;
    static constexpr int TURN = 0; /* one factor alone */
    const float* data;
    int64_t stride;
    int lines, depth;
};

/* Two factors of as many lines as one, by turns: TURN lines of the first, the same lines of the second, and so on. Half
 * of a warp's columns, so that a thread's outputs of its tile's two halves are of the same columns of both. */
template <bool QUADS_> struct PairedFactor {
    static constexpr bool ALONG_DEPTH = true, QUADS = QUADS_;
    static constexpr int TURN = WARP_COLUMNS / 2;
    const float *data, *second;
    int64_t stride;
    int lines, depth;
};

/* DEPTH x LINES of a factor in shared memory.  Four more to a row keep quads aligned and spread columns over banks. */
template <int LINES> using Panel = float[DEPTH][LINES + 4];

/* What a thread brings of each panel: COUNT quads, in registers between load and store; 0 beyond the factor. */
template <int LINES, int THREADS, typename F> struct Carrier {
    static constexpr bool ALONG = F::ALONG_DEPTH;
    static constexpr int COUNT = LINES * DEPTH / 4 / THREADS;
    static constexpr int ACROSS = (ALONG ? DEPTH : LINES) / 4; /* quads side by side */
    static constexpr int FURTHER = THREADS / ACROSS; /* lines, or depths, from one quad of a thread to its next */
    static_assert(COUNT >= 1 && THREADS % ACROSS == 0, "whole quads for every thread");

    /* A thread whose quads are all of the same lines leaves those beyond the factor no depth: one bound to keep, not
     * two. */
    static constexpr bool SAME_LINES = F::QUADS && (!ALONG || COUNT == 1);

    static constexpr bool TURNS = F::TURN > 0;
    static_assert(steps_keep_turns(FURTHER, F::TURN), "no carry from line to turn");

    const float *next, *other; /* other: where factors take turns, the same place of that which `next` is not of */
    int64_t stride;
    int lines, depth; /* left at the first quad */
    Quad quads[COUNT];

    static __device__ int inner() { return static_cast<int>(threadIdx.x) % ACROSS * 4; }
    static __device__ int outer() { return static_cast<int>(threadIdx.x) / ACROSS; }

    __device__ Carrier(const F& factor, int64_t first) : stride(factor.stride) {
        const int line = ALONG ? outer() : inner(), k = ALONG ? inner() : outer();
        depth = factor.depth - k;
        if constexpr (TURNS) {
            const int64_t place = place_in_turns(first + line, F::TURN);
            const bool second = is_second(line, F::TURN);
            next = (second ? factor.second : factor.data) + place * stride + k;
            other = (second ? factor.data : factor.second) + place * stride + k;
            lines = factor.lines - static_cast<int>(place);
        } else {
            next = factor.data + (ALONG ? (first + line) * stride + k : k * stride + first + line);
            other = nullptr;
            lines = factor.lines - static_cast<int>(first) - line;
        }
        if (SAME_LINES && lines <= 0) depth = 0;
    }

    /* How many lines, or depths, quad i is beyond the first. */
    static __device__ constexpr int beyond(int i) {
        return TURNS ? static_cast<int>(place_in_turns(i * FURTHER, F::TURN)) : i * FURTHER;
    }
    __device__ const float* quad_at(int i) const {
        if constexpr (TURNS)
            if (is_second(i * FURTHER, F::TURN)) return other + beyond(i) * stride;
        return next + beyond(i) * stride;
    }

    static __device__ Quad four(const float* from, int lines, int depth) {
        Quad quad = {{0.0f, 0.0f, 0.0f, 0.0f}};
        if constexpr (F::QUADS) {
            if ((SAME_LINES || lines > 0) && depth > 0) quad = load_quad(from);
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++)
                if ((ALONG ? lines : lines - i) > 0 && (ALONG ? depth - i : depth) > 0) quad.at[i] = from[i];
        }
        return quad;
    }

    __device__ void load() {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            quads[i] = four(quad_at(i), ALONG ? lines - beyond(i) : lines, ALONG ? depth : depth - beyond(i));
        next += ALONG ? DEPTH : DEPTH * stride;
        if constexpr (TURNS) other += DEPTH;
        depth -= DEPTH;
    }

    __device__ void store(Panel<LINES>& panel) const {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            if constexpr (ALONG) {
#pragma unroll
                for (int j = 0; j < 4; j++) panel[inner() + j][outer() + i * FURTHER] = quads[i].at[j];
            } else {
                store_shared_quad(&panel[outer() + i * FURTHER][inner()], quads[i]);
            }
        }
    }
};

/* The outputs of a thread: sums[r][c] is that of row(r), column(c) of the tile. */
template <typename Shape> struct Outputs {
    float sums[BLOCK_ROWS][BLOCK_COLUMNS];

    static __device__ int warp() { return threadIdx.x / WARP; }
    static __device__ int row(int r) {
        return warp() / Shape::WARPS_ACROSS * WARP_ROWS + r / 4 * (WARP_ROWS / 2) + lane_of_thread() / 8 * 4 + r % 4;
    }
    static __device__ int column(int c) {
        return warp() % Shape::WARPS_ACROSS * WARP_COLUMNS + c / 4 * (WARP_COLUMNS / 2) + lane_of_thread() % 8 * 4 +
               c % 4;
    }

    __device__ void fill(float value) {
#pragma unroll
        for (int r = 0; r < BLOCK_ROWS; r++)
#pragma unroll
            for (int c = 0; c < BLOCK_COLUMNS; c++) sums[r][c] = value;
    }

    __device__ void add(const Panel<Shape::ROWS>& a, const Panel<Shape::COLUMNS>& b) {
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            const Quad rows[2] = {load_quad(&a[k][row(0)]), load_quad(&a[k][row(4)])};
            const Quad columns[2] = {load_quad(&b[k][column(0)]), load_quad(&b[k][column(4)])};
#pragma unroll
            for (int r = 0; r < BLOCK_ROWS; r++)
#pragma unroll
                for (int c = 0; c < BLOCK_COLUMNS; c++)
                    sums[r][c] = fmaf(rows[r / 4].at[r % 4], columns[c / 4].at[c % 4], sums[r][c]);
        }
    }
};

/* The panels of one step: of both factors side by side, so that one address leads to them. */
template <typename Shape> struct Step {
    Panel<Shape::ROWS> a;
    Panel<Shape::COLUMNS> b;
};

/* Adds the product of A's lines from `row` and B's from `column` to the outputs, in the order of the depth. */
template <typename Shape, typename A, typename B>
__device__ void multiply_tile(const A& a, const B& b, int64_t row, int64_t column, Outputs<Shape>& outputs) {
    __shared__ __align__(16) Step<Shape> steps[2];
    Carrier<Shape::ROWS, Shape::THREADS, A> a_next(a, row);
    Carrier<Shape::COLUMNS, Shape::THREADS, B> b_next(b, column);
    a_next.load();
    b_next.load();
    int now = 0;
    for (int left = a.depth; left > 0; left -= DEPTH, now = 1 - now) {
        a_next.store(steps[now].a);
        b_next.store(steps[now].b);
        __syncthreads(); /* everyone has read the panels of the step before last, which are the next to be written */
        if (left > DEPTH) {
            a_next.load();
            b_next.load();
        }
        outputs.add(steps[now].a, steps[now].b);
    }
}

#endif
