/* Rows of a table, gathered and their gradients added back. */
#include "gather.cuh"
#include "reduce.cuh"
#include "scratch.cuh"
#include "sort.cuh"

namespace {

constexpr int PIECE = 16; /* sorted positions whose rows a team adds up */
constexpr int ADDERS = 8; /* warps that share the parts of an index */

/* A row's gradients stand side by side in the sorted order, and are added up piece by piece, so that an index which
 * stands often is the work of many teams.  What a piece adds for the index that the piece before ends with is a part of
 * its own; the sums depend on nothing but the indices and their order. */
template <typename T> struct Gradients {
    const T* grad_output;
    Sorted sorted;
    uint32_t limit;
    float *grad_weight, *parts; /* parts: a row to each piece */
    int64_t n;
    int cols;

    __host__ __device__ int64_t pieces() const { return ceil_div(n, PIECE); }
    __device__ uint32_t first_of(int64_t piece) const { return sorted.keys[piece * PIECE]; }
    __device__ bool continues(int64_t piece) const {
        return piece > 0 && sorted.keys[piece * PIECE - 1] == first_of(piece);
    }
    /* The pieces from this one on that begin with the same index end before the one returned. */
    __device__ int64_t end_of(int64_t piece) const {
        int64_t low = piece + 1, high = pieces();
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (first_of(middle) == first_of(piece)) low = middle + 1;
            else high = middle;
        }
        return low;
    }
};

template <int WIDTH> __device__ void add_to(Pack<WIDTH>& sum, const Pack<WIDTH>& more) {
#pragma unroll
    for (int i = 0; i < WIDTH; i++) sum.at[i] += more.at[i];
}

/* The sum over the positions [first, stop), in order.  It begins with -0, which leaves every number as it is. */
template <int WIDTH, typename T>
__device__ Pack<WIDTH> sum_of_rows(const Gradients<T>& g, int64_t first, int64_t stop, int64_t column) {
    Pack<WIDTH> sum = filled<WIDTH>(-0.0f);
    for (int64_t position = first; position < stop; position++)
        add_to(sum, load_numbers<WIDTH>(g.grad_output + int64_t{g.sorted.order[position]} * g.cols + column));
    return sum;
}

/* A team to each piece and, in the other direction of the grid, to as many columns as it has threads for. */
template <typename L, typename T> __global__ void __launch_bounds__(L::BLOCK) add_pieces_kernel(Gradients<T> g) {
    const int64_t piece = L::team(), end = min64((piece + 1) * PIECE, g.n);
    if (piece >= g.pieces()) return;
    for (int64_t column = L::column(blockIdx.y); column < g.cols; column += int64_t{gridDim.y} * L::COLUMNS) {
        for (int64_t position = piece * PIECE, stop = position; position < end; position = stop) {
            const uint32_t index = g.sorted.keys[position];
            if (index >= g.limit) break;
            while (stop < end && g.sorted.keys[stop] == index) stop++;
            const bool continued = position == piece * PIECE && g.continues(piece);
            float* const to = (continued ? g.parts + piece * g.cols : g.grad_weight + int64_t{index} * g.cols) + column;
            Pack<L::WIDTH> sum = sum_of_rows<L::WIDTH>(g, position, stop, column);
            if (!continued) add_to(sum, load_pack<L::WIDTH>(to));
            store_pack<L::WIDTH>(to, sum);
        }
    }
}

/* Adds the parts of an index to its row: a block to the first piece that continues it, and a warp's columns. */
template <int WIDTH, typename T> __global__ void __launch_bounds__(ADDERS* WARP) join_parts_kernel(Gradients<T> g) {
    __shared__ Pack<WIDTH> sums[ADDERS][WARP];
    const int warp = threadIdx.x / WARP, lane = lane_of_thread();
    const int64_t piece = blockIdx.x;
    const uint32_t index = g.first_of(piece);
    if (!g.continues(piece) || index >= g.limit || (g.continues(piece - 1) && g.first_of(piece - 1) == index)) return;
    const int64_t count = g.end_of(piece) - piece;
    for (int64_t first = blockIdx.y; first * WARP * WIDTH < g.cols; first += gridDim.y) {
        const int64_t column = (first * WARP + lane) * WIDTH;
        Pack<WIDTH> sum = filled<WIDTH>(-0.0f);
        for (int64_t part = warp; part < count && column < g.cols; part += ADDERS)
            add_to(sum, load_pack<WIDTH>(g.parts + (piece + part) * g.cols + column));
        sums[warp][lane] = sum;
        __syncthreads();
        if (warp == 0 && column < g.cols) {
            float* const to = g.grad_weight + int64_t{index} * g.cols + column;
            sum = load_pack<WIDTH>(to);
            for (int w = 0; w < ADDERS; w++) add_to(sum, sums[w][lane]);
            store_pack<WIDTH>(to, sum);
        }
        __syncthreads();
    }
}

/* Blocks for the columns of a row: a grid's second direction ends at 65,535. */
unsigned blocks_across(int64_t cols, int64_t per_block) {
    return static_cast<unsigned>(min64(ceil_div(cols, per_block), 65535));
}

template <typename L, typename T> int32_t add_rows(const Gradients<T>& g, cudaStream_t stream) {
    const dim3 adding(blocks_for(g.pieces(), L::TEAMS), blocks_across(g.cols, L::COLUMNS));
    add_pieces_kernel<L><<<adding, L::BLOCK, 0, stream>>>(g);
    TRY(launched());
    if (g.pieces() == 1) return ASSAYER_OK;
    const dim3 joining(blocks_for(g.pieces(), 1), blocks_across(g.cols, WARP * L::WIDTH));
    join_parts_kernel<L::WIDTH><<<joining, ADDERS * WARP, 0, stream>>>(g);
    return launched();
}

template <typename T>
int32_t scatter_add(const T* grad_output, const int* indices, float* grad_weight, int num_indices, int embedding_dim,
                    void* stream) {
    CHECK_ARRAY(grad_output, num_indices, embedding_dim);
    CHECK_ARRAY(indices, num_indices);
    CHECK_ARRAY(grad_weight, embedding_dim);
    Gradients<T> g = {grad_output, {},          1u << 31,     grad_weight,
                      nullptr,     num_indices, embedding_dim}; /* negative ones last */
    const int64_t sorting = sort_memory(num_indices);
    const Scratch scratch(sorting + g.pieces() * embedding_dim * static_cast<int64_t>(sizeof(float)),
                          stream_of(stream));
    TRY(scratch.code());
    TRY(sort_indices(indices, num_indices, g.limit, scratch.as<void>(), &g.sorted, stream_of(stream)));
    g.parts = scratch.as<float>() + sorting / static_cast<int64_t>(sizeof(float));
    return with_team<T>(embedding_dim, rows_of_quads(embedding_dim, grad_output, grad_weight),
                        [=](auto layout) { return add_rows<decltype(layout)>(g, stream_of(stream)); });
}

} // namespace

#define EMBEDDING(Declared, T, suffix)                                                                                 \
    int32_t cuda_embedding##suffix(const Declared* weight, const int* indices, Declared* output, int num_indices,      \
                                   int vocab_size, int embedding_dim, void* stream) {                                  \
        CHECK_ARRAY(weight, vocab_size, embedding_dim);                                                                \
        CHECK_ARRAY(indices, num_indices);                                                                             \
        CHECK_ARRAY(output, num_indices, embedding_dim);                                                               \
        return gather(numbers_of<T>(weight), indices, numbers_of<T>(output), num_indices, vocab_size, 1,               \
                      embedding_dim, stream);                                                                          \
    }
FOR_EACH_STORAGE(EMBEDDING)

#define SCATTER_ADD(Declared, T, suffix)                                                                               \
    int32_t cuda_scatter_add##suffix(const Declared* grad_output, const int* indices, float* grad_weight,              \
                                     int num_indices, int embedding_dim, void* stream) {                               \
        return scatter_add(numbers_of<T>(grad_output), indices, grad_weight, num_indices, embedding_dim, stream);      \
    }
FOR_EACH_STORAGE(SCATTER_ADD)
