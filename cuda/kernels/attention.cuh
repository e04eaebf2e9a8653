/* What attention forward and backward share: which rows there are, tiles of them in shared memory, and products of tiles. */
#ifndef ASSAYER_ATTENTION_CUH
#define ASSAYER_ATTENTION_CUH

#include "launch.cuh"
#include "reduce.cuh"
#include "vector.cuh"

#include <math.h>

/* The query heads that read one KV head are rows of one problem, so that keys and values are brought once for them all:
 * row = position * group + head within the group.  A "pair" is a batch and a KV head. */
struct Heads {
    int64_t batch, n_q_heads, n_kv_heads, q_len, kv_len, kv_capacity;
    int head_dim;
    float scale;
    bool quads; /* rows are whole numbers of aligned quads */

    __host__ __device__ int64_t pairs() const { return batch * n_kv_heads; }
    __host__ __device__ int64_t group() const { return n_q_heads / n_kv_heads; }
    __host__ __device__ int64_t rows() const { return q_len * group(); }

    /* Where a row of Q or of what has its shape begins; the row's place in lse; where a key or value begins. */
    __device__ int64_t query_at(int64_t pair, int64_t row) const {
        return ((pair / n_kv_heads * q_len + row / group()) * n_q_heads + head_of(pair, row)) * head_dim;
    }
    __device__ int64_t lse_at(int64_t pair, int64_t row) const {
        return (pair / n_kv_heads * n_q_heads + head_of(pair, row)) * q_len + row / group();
    }
    __device__ int64_t key_at(int64_t pair, int64_t key) const {
        return ((pair / n_kv_heads * kv_capacity + key) * n_kv_heads + pair % n_kv_heads) * head_dim;
    }
    /* How many keys a row sees. */
    __device__ int64_t seen(int64_t row) const { return kv_len - q_len + row / group() + 1; }

private:
    __device__ int64_t head_of(int64_t pair, int64_t row) const { return pair % n_kv_heads * group() + row % group(); }
};

/* A block has WARPS x 16 rows against COLUMNS others, SLICE of the head dimension at a time.  A thread has four rows, every
 * eighth column, and every eighth quad of a slice: what eight lanes read at once lies in 32 banks. */
template <int SLICE_, int WARPS_, int COLUMNS_> struct AttentionShape {
    static constexpr int SLICE = SLICE_, WARPS = WARPS_, COLUMNS = COLUMNS_;
    static constexpr int ROWS = 16 * WARPS, THREADS = WARP * WARPS;
    static constexpr int STRIDE = SLICE + 4, SCORE_STRIDE = COLUMNS + 4; /* of rows in shared memory */
    static constexpr int HEIGHT = 4, WIDTH = COLUMNS / 8, QUADS = SLICE / 32; /* of a thread */

    static __device__ int row(int i) { return threadIdx.x / WARP * 16 + lane_of_thread() / 8 + 4 * i; }
    static __device__ int column(int j) { return lane_of_thread() % 8 + 8 * j; }
    static __device__ int quad(int j) { return lane_of_thread() % 8 * 4 + 32 * j; }

    __host__ __device__ static int slices(int head_dim) { return (head_dim + SLICE - 1) / SLICE; }
};

/* Scores of a thread, and its part of a slice of outputs. */
template <typename S> using Scores = float[S::HEIGHT][S::WIDTH];
template <typename S> using Slice = Quad[S::HEIGHT][S::QUADS];

template <typename S> __device__ void clear_scores(Scores<S>& scores) {
#pragma unroll
    for (int i = 0; i < S::HEIGHT; i++)
#pragma unroll
        for (int j = 0; j < S::WIDTH; j++) scores[i][j] = 0.0f;
}

template <typename S> __device__ void clear_slice(Slice<S>& slice) {
#pragma unroll
    for (int i = 0; i < S::HEIGHT; i++)
#pragma unroll
        for (int j = 0; j < S::QUADS; j++) slice[i][j] = {{0.0f, 0.0f, 0.0f, 0.0f}};
}

/* Brings `count` of COUNT rows, from column `first` of each; 0 beyond.  at(row): where in `data` the row begins. */
template <typename S, int COUNT, typename At>
__device__ void bring(float* tile, const float* data, int64_t count, int first, int head_dim, bool quads, const At& at) {
    constexpr int ACROSS = S::SLICE / 4;
    for (int i = threadIdx.x; i < COUNT * ACROSS; i += S::THREADS) {
        const int row = i / ACROSS, column = i % ACROSS * 4;
        Quad quad = {{0.0f, 0.0f, 0.0f, 0.0f}};
        if (row < count && first + column < head_dim) {
            const float* const from = data + at(row) + first + column;
            if (quads) {
                quad = load_quad(from);
            } else {
#pragma unroll
                for (int k = 0; k < 4; k++)
                    if (first + column + k < head_dim) quad.at[k] = from[k];
            }
        }
        store_quad(tile + row * S::STRIDE + column, quad);
    }
}

/* scores += rows . columns^T over a slice. */
template <typename S> __device__ void add_scores(const float* rows, const float* columns, Scores<S>& scores) {
#pragma unroll 4
    for (int k = 0; k < S::SLICE; k += 4) {
        Quad a[S::HEIGHT], b[S::WIDTH];
#pragma unroll
        for (int i = 0; i < S::HEIGHT; i++) a[i] = load_quad(rows + S::row(i) * S::STRIDE + k);
#pragma unroll
        for (int j = 0; j < S::WIDTH; j++) b[j] = load_quad(columns + S::column(j) * S::STRIDE + k);
#pragma unroll
        for (int i = 0; i < S::HEIGHT; i++)
#pragma unroll
            for (int j = 0; j < S::WIDTH; j++)
#pragma unroll
                for (int part = 0; part < 4; part++) scores[i][j] = fmaf(a[i].at[part], b[j].at[part], scores[i][j]);
    }
}

/* Scores where the other lanes of the warp find them; a warp's rows are its own. */
template <typename S> __device__ void keep_scores(float* tile, const Scores<S>& scores) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < S::HEIGHT; i++)
#pragma unroll
        for (int j = 0; j < S::WIDTH; j++) tile[S::row(i) * S::SCORE_STRIDE + S::column(j)] = scores[i][j];
    __syncwarp();
}

/* slice += scores . columns, the scores as they were kept. */
template <typename S> __device__ void add_slice(const float* scores, const float* columns, Slice<S>& slice) {
#pragma unroll 2
    for (int k = 0; k < S::COLUMNS; k += 4) {
        Quad a[S::HEIGHT];
#pragma unroll
        for (int i = 0; i < S::HEIGHT; i++) a[i] = load_quad(scores + S::row(i) * S::SCORE_STRIDE + k);
#pragma unroll
        for (int part = 0; part < 4; part++)
#pragma unroll
            for (int j = 0; j < S::QUADS; j++) {
                const Quad b = load_quad(columns + (k + part) * S::STRIDE + S::quad(j));
#pragma unroll
                for (int i = 0; i < S::HEIGHT; i++)
#pragma unroll
                    for (int c = 0; c < 4; c++) slice[i][j].at[c] = fmaf(a[i].at[part], b.at[c], slice[i][j].at[c]);
            }
    }
}

/* Writes a thread's part of a row, times a factor. */
template <typename S>
__device__ void store_slice_row(float* row, int first, int head_dim, bool quads, const Quad (&slice)[S::QUADS], float factor) {
#pragma unroll
    for (int j = 0; j < S::QUADS; j++) {
        const int column = first + S::quad(j);
        Quad quad = slice[j];
#pragma unroll
        for (int c = 0; c < 4; c++) quad.at[c] *= factor;
        if (quads && column < head_dim) store_quad(row + column, quad);
#pragma unroll
        for (int c = 0; c < 4; c++)
            if (!quads && column + c < head_dim) row[column + c] = quad.at[c];
    }
}

/* Launches with the shared memory a kernel needs, more than 48 KB where it asks for it. */
template <typename Kernel, typename... Arguments>
int32_t launch_with_memory(Kernel kernel, int64_t blocks, int threads, int floats, void* stream, const Arguments&... arguments) {
    if (blocks > INT32_MAX) return ASSAYER_UNSUPPORTED; /* past a grid's first axis */
    const int bytes = floats * static_cast<int>(sizeof(float));
    if (bytes > 48 * 1024) TRY(code_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)));
    kernel<<<static_cast<unsigned>(blocks), threads, bytes, stream_of(stream)>>>(arguments...);
    return launched();
}

#endif
