/* What attention works on: tiles of 64 lines, a line being a query, a key or a value, head_dim floats side by side.
 * Lines go from global memory through registers into shared memory, one step ahead of their use. */
#ifndef ASSAYER_ATTENTION_TILE_CUH
#define ASSAYER_ATTENTION_TILE_CUH

#include "reduce.cuh"
#include "vector.cuh"

constexpr int LINES = 64;         /* of a tile */
constexpr int STEP = 16;          /* of what is summed over, at a time */
constexpr int STRIDE = LINES + 4; /* of a panel's rows: keeps quads aligned and spreads columns over the banks */

/* A block of THREADS threads computes LINES lines of WIDTH columns.  Four lines belong to the same ACROSS lanes of a
 * warp, and a lane has every ACROSS-th quad of columns.  QUADS: lines are whole, aligned quads. */
template <int WIDTH_, int THREADS_, bool QUADS_> struct AttentionLayout {
    static constexpr int WIDTH = WIDTH_, THREADS = THREADS_, ACROSS = THREADS * 4 / LINES;
    /* that a multiprocessor holds at least: asking for more makes ptxas spill */
    static constexpr int BLOCKS = 256 / THREADS;
    static constexpr bool QUADS = QUADS_;
    static_assert(ACROSS <= WARP && WIDTH % (4 * ACROSS) == 0 && STEP * WIDTH / 4 % THREADS == 0,
                  "each thread has whole quads");

    static __device__ int lane() { return threadIdx.x % ACROSS; }
    static __device__ int line(int r) { return threadIdx.x / ACROSS * 4 + r; }
    static __device__ int column(int c) { return (c / 4 * ACROSS + lane()) * 4 + c % 4; }
};

/* What a thread has of LINES x COLUMNS: at[r][c] is line(r), column(c). */
template <typename L, int COLUMNS> struct Fragment {
    static constexpr int COUNT = COLUMNS / L::ACROSS;
    float at[4][COUNT];

    __device__ void fill(float value) {
#pragma unroll
        for (int r = 0; r < 4; r++)
#pragma unroll
            for (int c = 0; c < COUNT; c++) at[r][c] = value;
    }
};

/* Four floats of a line, which ends at `end`; 0 beyond it, and where there is no line. */
template <bool QUADS> __device__ Quad four(const float* line, unsigned column, unsigned end) {
    Quad quad = {{0.0f, 0.0f, 0.0f, 0.0f}};
    if (!line) return quad;
    if constexpr (QUADS) {
        if (column < end) quad = load_quad(line + column);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (column + i < end) quad.at[i] = line[column + i];
    }
    return quad;
}

/* STEP columns of LINES lines on their way into a panel, in which they are transposed: panel[column][line]. */
template <typename L> class TransposedLoad {
public:
    template <typename Lines> __device__ explicit TransposedLoad(const Lines& lines) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) from[i] = lines(line(i));
    }
    __device__ void load(unsigned column, unsigned end) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) quads[i] = four<L::QUADS>(from[i], column + offset(), end);
    }
    __device__ void store(float* panel) const {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) panel[(offset() + j) * STRIDE + line(i)] = quads[i].at[j];
    }

private:
    static constexpr int EACH = STEP / 4, COUNT = LINES * EACH / L::THREADS;
    const float* from[COUNT];
    Quad quads[COUNT];

    static __device__ int line(int i) { return (i * L::THREADS + threadIdx.x) / EACH; }
    static __device__ int offset() { return threadIdx.x % EACH * 4; }
};

/* WIDTH columns of STEP lines on their way into a panel, in which they stay as they are: panel[line][column]. */
template <typename L> class RowLoad {
public:
    template <typename Lines> __device__ void load(const Lines& lines, int first, unsigned column, unsigned end) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) quads[i] = four<L::QUADS>(lines(first + line(i)), column + offset(i), end);
    }
    __device__ void store(float* panel) const {
#pragma unroll
        for (int i = 0; i < COUNT; i++) store_shared_quad(panel + line(i) * L::WIDTH + offset(i), quads[i]);
    }

private:
    static constexpr int EACH = L::WIDTH / 4, COUNT = STEP * EACH / L::THREADS;
    Quad quads[COUNT];

    static __device__ int line(int i) { return (i * L::THREADS + threadIdx.x) / EACH; }
    static __device__ int offset(int i) { return (i * L::THREADS + threadIdx.x) % EACH * 4; }
};

#endif
