/* The products that attention is made of: a block's, between two tiles of lines, or of weights and a tile. */
#ifndef ASSAYER_ATTENTION_PRODUCTS_CUH
#define ASSAYER_ATTENTION_PRODUCTS_CUH

#include "attention_tile.cuh"

/* sums[line][column] += sum over k of a[k][line] * b[k][column], k < STEP. */
template <typename L, int COLUMNS, int B_STRIDE>
__device__ void add_products(const float* a, const float* b, Fragment<L, COLUMNS>& sums) {
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

/* The products of a block, all of whose threads take part.  One barrier a step: a panel is written again two steps
 * later, when everyone has passed the barrier of the step between. */
template <typename L> class Products {
public:
    __device__ explicit Products(Panels<L>& panels) : panels(panels) {}

    /* sums = A . B^T: lines of head_dim floats, [LINES, LINES]. */
    template <typename A, typename B>
    __device__ void dot(const A& a, const B& b, unsigned head_dim, Fragment<L, LINES>& sums) {
        TransposedLoad<L> a_next(a), b_next(b);
        sums.fill(0.0f);
        a_next.load(0, head_dim);
        b_next.load(0, head_dim);
        for (unsigned k = 0; k < head_dim; k += STEP) {
            float* const panel = next_panel();
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

    /* Makes [line][column] the weight of line `column` of what add_weighted() is given, in the sum for `line`.  Between
     * an add_weighted and new weights stands a dot. */
    __device__ void store_weights(const Fragment<L, LINES>& tile) {
#pragma unroll
        for (int c = 0; c < tile.COUNT; c++)
            store_shared_quad(weights_at(c), {{tile.at[0][c], tile.at[1][c], tile.at[2][c], tile.at[3][c]}});
    }

    /* The weights [line(0) to line(3)][column(c)]. */
    __device__ Quad weights(int c) const { return load_quad(weights_at(c)); }

    /* sums += weights . those of `count` lines, their WIDTH columns from `column`. */
    template <typename Lines>
    __device__ void add_weighted(const Lines& lines, int count, unsigned column, unsigned head_dim,
                                 Fragment<L, L::WIDTH>& sums) {
        RowLoad<L> next;
        next.load(lines, 0, column, head_dim);
        for (int k = 0; k < count; k += STEP) {
            float* const panel = next_panel();
            next.store(panel);
            __syncthreads();
            if (k + STEP < count) next.load(lines, k + STEP, column, head_dim);
            add_products<L, L::WIDTH, L::WIDTH>(panels.weights + k * STRIDE, panel, sums);
        }
    }

private:
    Panels<L>& panels;
    int now = 0;

    __device__ float* weights_at(int c) const { return panels.weights + L::column(c) * STRIDE + L::line(0); }
    __device__ float* next_panel() {
        now = 1 - now;
        return panels.steps[now];
    }
};

#endif
