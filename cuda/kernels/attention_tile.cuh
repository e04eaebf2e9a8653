/* The products that attention is made of, between tiles of 64 lines: a line is a query, a key or a value, head_dim floats side
 * by side.  Lines go from global memory through registers into shared memory, one step ahead of their use. */
#ifndef ASSAYER_ATTENTION_TILE_CUH
#define ASSAYER_ATTENTION_TILE_CUH

#include "reduce.cuh"
#include "vector.cuh"

constexpr int LINES = 64;           /* of a tile */
constexpr int STEP = 16;            /* of what is summed over, at a time */
constexpr int STRIDE = LINES + 4;   /* of a panel's rows: keeps quads aligned and spreads columns over the banks */

/* A block of THREADS threads computes LINES lines of WIDTH columns.  Four lines belong to the same ACROSS lanes of a warp, and a
 * lane has every ACROSS-th quad of columns.  QUADS: lines begin at multiples of 16 bytes and are whole quads. */
template <int WIDTH_, int THREADS_, bool QUADS_> struct AttentionLayout {
    static constexpr int WIDTH = WIDTH_, THREADS = THREADS_, ACROSS = THREADS * 4 / LINES;
    static constexpr int BLOCKS = 256 / THREADS; /* that a multiprocessor holds at least: asking for more makes ptxas spill */
    static constexpr bool QUADS = QUADS_;
    static_assert(ACROSS <= WARP && WIDTH % (4 * ACROSS) == 0 && STEP * WIDTH / 4 % THREADS == 0, "each thread has whole quads");

    static __device__ int lane() { return threadIdx.x % ACROSS; }
    static __device__ int line(int r) { return threadIdx.x / ACROSS * 4 + r; }
    static __device__ int column(int c) { return (c / 4 * ACROSS + lane()) * 4 + c % 4; }
};

/* What a thread has of LINES x COLUMNS: at[r][c] is line(r), column(c). */
template <typename L, int COLUMNS> struct Share {
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

/* STEP columns of LINES lines on their way into a panel, in which they stand upright: panel[column][line]. */
template <typename L> class Upright {
public:
    template <typename Lines> __device__ explicit Upright(const Lines& lines) {
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

/* WIDTH columns of STEP lines on their way into a panel, in which they lie as they are: panel[line][column]. */
template <typename L> class Lying {
public:
    template <typename Lines> __device__ void load(const Lines& lines, int first, unsigned column, unsigned end) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) quads[i] = four<L::QUADS>(lines(first + line(i)), column + offset(i), end);
    }
    __device__ void store(float* panel) const {
#pragma unroll
        for (int i = 0; i < COUNT; i++) store_quad(panel + line(i) * L::WIDTH + offset(i), quads[i]);
    }

private:
    static constexpr int EACH = L::WIDTH / 4, COUNT = STEP * EACH / L::THREADS;
    Quad quads[COUNT];

    static __device__ int line(int i) { return (i * L::THREADS + threadIdx.x) / EACH; }
    static __device__ int offset(int i) { return (i * L::THREADS + threadIdx.x) % EACH * 4; }
};

/* sums[line][column] += sum over k of a[k][line] * b[k][column], k < STEP. */
template <typename L, int COLUMNS, int B_STRIDE>
__device__ void add_products(const float* a, const float* b, Share<L, COLUMNS>& sums) {
#pragma unroll
    for (int k = 0; k < STEP; k++) {
        const Quad lines = load_quad(a + k * STRIDE + L::line(0));
#pragma unroll
        for (int c = 0; c < sums.COUNT; c += 4) {
            const Quad columns = load_quad(b + k * B_STRIDE + L::column(c));
#pragma unroll
            for (int r = 0; r < 4; r++)
#pragma unroll
                for (int j = 0; j < 4; j++) sums.at[r][c + j] = fmaf(lines.at[r], columns.at[j], sums.at[r][c + j]);
        }
    }
}

/* Shared memory of a block. */
template <typename L> struct Panels {
    static constexpr int SIZE = STEP * (2 * STRIDE > L::WIDTH ? 2 * STRIDE : L::WIDTH);
    float steps[2][SIZE];
    float weights[LINES * STRIDE];
};

/* The products of a block, all of whose threads take part.  One barrier a step: a panel is written again two steps later, when
 * everyone has passed the barrier of the step between. */
template <typename L> class Products {
public:
    __device__ explicit Products(Panels<L>& panels) : panels(panels) {}

    /* sums = A . B^T: lines of head_dim floats, [LINES, LINES]. */
    template <typename A, typename B> __device__ void dot(const A& a, const B& b, unsigned head_dim, Share<L, LINES>& sums) {
        Upright<L> a_next(a), b_next(b);
        sums.fill(0.0f);
        a_next.load(0, head_dim);
        b_next.load(0, head_dim);
        for (unsigned k = 0; k < head_dim; k += STEP) {
            float* const panel = turn();
            a_next.store(panel);
            b_next.store(panel + STEP * STRIDE);
            __syncthreads();
            if (k + STEP < head_dim) {
                a_next.load(k + STEP, head_dim);
                b_next.load(k + STEP, head_dim);
            }
            add_products<L, LINES, STRIDE>(panel, panel + STEP * STRIDE, sums);
        }
    }

    /* Makes [line][column] the weight of line `column` of what mix() is given, in the sum for `line`.  Between a mix and new
     * weights stands a dot. */
    __device__ void weigh(const Share<L, LINES>& share) {
#pragma unroll
        for (int c = 0; c < share.COUNT; c++)
            store_quad(place(c), {{share.at[0][c], share.at[1][c], share.at[2][c], share.at[3][c]}});
    }

    /* The weights [line(0) to line(3)][column(c)]. */
    __device__ Quad weights(int c) const { return load_quad(place(c)); }

    /* sums += weights . those of `count` lines, their WIDTH columns from `column`. */
    template <typename Lines>
    __device__ void mix(const Lines& lines, int count, unsigned column, unsigned head_dim, Share<L, L::WIDTH>& sums) {
        Lying<L> next;
        next.load(lines, 0, column, head_dim);
        for (int k = 0; k < count; k += STEP) {
            float* const panel = turn();
            next.store(panel);
            __syncthreads();
            if (k + STEP < count) next.load(lines, k + STEP, column, head_dim);
            add_products<L, L::WIDTH, L::WIDTH>(panels.weights + k * STRIDE, panel, sums);
        }
    }

private:
    Panels<L>& panels;
    int now = 0;

    __device__ float* place(int c) const { return panels.weights + L::column(c) * STRIDE + L::line(0); }
    __device__ float* turn() {
        now = 1 - now;
        return panels.steps[now];
    }
};

#endif
