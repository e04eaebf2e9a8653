/* The register-tiled product of two tiles: operands go from global memory through registers into shared memory, one step ahead
 * of their use, and each thread sums an 8 x 8 block of outputs. */
#ifndef ASSAYER_TILE_CUH
#define ASSAYER_TILE_CUH

#include "reduce.cuh"
#include "vector.cuh"

constexpr int DEPTH = 16;                           /* of one step */
constexpr int WARP_ROWS = 32, WARP_COLUMNS = 64;    /* of outputs; the lanes stand 4 x 8 */
constexpr int BLOCK_ROWS = 8, BLOCK_COLUMNS = 8;    /* of one thread: four by four, in two halves of the warp's tile */

/* ROWS x COLUMNS outputs of a block. */
template <int ROWS_, int COLUMNS_> struct TileShape {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_;
    static constexpr int WARPS_DOWN = ROWS / WARP_ROWS, WARPS_ACROSS = COLUMNS / WARP_COLUMNS;
    static constexpr int THREADS = WARP * WARPS_DOWN * WARPS_ACROSS;
};

/* A factor: `lines` rows of A or columns of B, `depth` long.  ALONG_DEPTH: the elements of a line lie side by side, and lines
 * `stride` apart; else those of one depth do. */
template <bool ALONG_DEPTH> struct Factor {
    const float* data;
    int64_t stride, lines, depth;

    __device__ int64_t at(int64_t line, int64_t k) const { return ALONG_DEPTH ? line * stride + k : k * stride + line; }
    __device__ bool has(int64_t line, int64_t k) const { return line < lines && k < depth; }

    /* Four neighbours in memory; 0 where there are none.  QUADS: they are all there or none is, and aligned. */
    template <bool QUADS> __device__ Quad four(int64_t line, int64_t k) const {
        Quad quad = {{0.0f, 0.0f, 0.0f, 0.0f}};
        if constexpr (QUADS) {
            if (has(line, k)) quad = load_quad(data + at(line, k));
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int64_t l = ALONG_DEPTH ? line : line + i, d = ALONG_DEPTH ? k + i : k;
                if (has(l, d)) quad.at[i] = data[at(l, d)];
            }
        }
        return quad;
    }
};

/* DEPTH x LINES of a factor in shared memory.  Four more to a row keep quads aligned and spread columns over the banks. */
template <int LINES> using Panel = float[DEPTH][LINES + 4];

/* What a thread brings of a panel: quads of THREADS threads, in registers between load and store. */
template <int LINES, int THREADS, bool ALONG_DEPTH> struct Carrier {
    static constexpr int COUNT = LINES * DEPTH / 4 / THREADS;
    Quad quads[COUNT];

    static __device__ int line(int i) {
        const int quad = i * THREADS + threadIdx.x;
        return ALONG_DEPTH ? quad / (DEPTH / 4) : quad % (LINES / 4) * 4;
    }
    static __device__ int depth(int i) {
        const int quad = i * THREADS + threadIdx.x;
        return ALONG_DEPTH ? quad % (DEPTH / 4) * 4 : quad / (LINES / 4);
    }
    template <bool QUADS> __device__ void load(const Factor<ALONG_DEPTH>& factor, int64_t first, int64_t k) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) quads[i] = factor.template four<QUADS>(first + line(i), k + depth(i));
    }
    __device__ void store(Panel<LINES>& panel) const {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            if constexpr (ALONG_DEPTH) {
#pragma unroll
                for (int j = 0; j < 4; j++) panel[depth(i) + j][line(i)] = quads[i].at[j];
            } else {
                store_quad(&panel[depth(i)][line(i)], quads[i]);
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
        return warp() % Shape::WARPS_ACROSS * WARP_COLUMNS + c / 4 * (WARP_COLUMNS / 2) + lane_of_thread() % 8 * 4 + c % 4;
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

/* Adds the product of A's lines from `row` and B's from `column` to the outputs, in the order of the depth. */
template <typename Shape, bool A_ALONG, bool B_ALONG, bool QUADS>
__device__ void multiply_tile(const Factor<A_ALONG>& a, const Factor<B_ALONG>& b, int64_t row, int64_t column, Outputs<Shape>& outputs) {
    __shared__ __align__(16) Panel<Shape::ROWS> a_panels[2];
    __shared__ __align__(16) Panel<Shape::COLUMNS> b_panels[2];
    Carrier<Shape::ROWS, Shape::THREADS, A_ALONG> a_next;
    Carrier<Shape::COLUMNS, Shape::THREADS, B_ALONG> b_next;
    a_next.template load<QUADS>(a, row, 0);
    b_next.template load<QUADS>(b, column, 0);
    int now = 0;
    for (int64_t k = 0; k < a.depth; k += DEPTH, now = 1 - now) {
        a_next.store(a_panels[now]);
        b_next.store(b_panels[now]);
        __syncthreads(); /* the panels of the step before last are read by then */
        if (k + DEPTH < a.depth) {
            a_next.template load<QUADS>(a, row, k + DEPTH);
            b_next.template load<QUADS>(b, column, k + DEPTH);
        }
        outputs.add(a_panels[now], b_panels[now]);
    }
}

#endif
