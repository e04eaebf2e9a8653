/* The kernel of all products, and which tiles it works in. */
#include "product.cuh"

#include "activations.cuh"
#include "functions.cuh"
#include "tile.cuh"

namespace {

/* What one block computes: a tile of one of the products. */
struct Job {
    const float *A, *B;
    float* C;
    int64_t rows, depth; /* of this product */
    int64_t row, column; /* where the tile begins */
    bool broken;         /* its offsets are none */
};

/* True where offsets ascend from 0 to p.grouped; asked by a whole warp. */
__device__ bool offsets_fit(const Product& p) {
    bool ascend = true;
    for (int e = lane_of_thread(); e < p.experts; e += WARP) ascend = ascend && p.offsets[e] <= p.offsets[e + 1];
    return __all_sync(ALL_LANES, ascend) && p.offsets[0] == 0 && p.offsets[p.experts] == p.grouped;
}

/* A tile row of the experts' rows, each expert's cut into tiles of its own; no rows past the last. */
template <typename Shape> __device__ void locate_rows(const Product& p, int64_t tile, Job& job) {
    int64_t before = 0;
    for (int e = 0; e < p.experts; e++) {
        const int64_t first = p.offsets[e], rows = p.offsets[e + 1] - first, tiles = ceil_div(rows, Shape::ROWS);
        if (tile < before + tiles) {
            job.A += first * p.a_stride;
            job.B += e * p.b_expert;
            job.C += first * p.c_stride;
            job.rows = rows;
            job.row = (tile - before) * Shape::ROWS;
            return;
        }
        before += tiles;
    }
    job.rows = 0;
}

template <typename Shape> __device__ Job locate(const Product& p) {
    const int64_t across = ceil_div(p.columns, Shape::COLUMNS), tile = blockIdx.x / across;
    const int64_t down = ceil_div(p.rows, Shape::ROWS), number = tile / down;
    const int64_t batch = number / p.heads, head = number % p.heads;
    Job job = {p.A, p.B, p.C, p.rows, p.depth, tile % down * Shape::ROWS, blockIdx.x % across * Shape::COLUMNS, false};
    if (p.groups == Groups::NONE) {
        job.A += batch * p.a_batch + head * p.a_head;
        job.B += batch * p.b_batch;
        job.C += batch * p.c_batch + head * p.c_head;
        return job;
    }
    job.broken = !offsets_fit(p);
    if (p.groups == Groups::DEPTH) {
        job.C += number * p.c_expert;
        if (job.broken) return job;
        const int64_t first = p.offsets[number];
        job.A += first * p.a_stride;
        job.B += first * p.b_stride;
        job.depth = p.offsets[number + 1] - first;
    } else if (job.broken) {
        job.row = tile * Shape::ROWS;
    } else {
        locate_rows<Shape>(p, tile, job);
    }
    return job;
}

/* WIDTH columns at a time, of which a row is a whole number. */
template <int WIDTH, bool BIASED, typename Shape>
__device__ void store(const Product& p, const Job& job, const Outputs<Shape>& outputs) {
#pragma unroll
    for (int r = 0; r < BLOCK_ROWS; r++) {
        const int64_t row = job.row + outputs.row(r);
        if (row >= job.rows) continue;
        float* const to = job.C + row * p.c_stride;
#pragma unroll
        for (int c = 0; c < BLOCK_COLUMNS; c += WIDTH) {
            const int64_t column = job.column + outputs.column(c);
            if (column >= p.columns) continue;
            Pack<WIDTH> pack = p.beta == 0.0f ? Pack<WIDTH>{} : load_pack<WIDTH>(to + column);
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                float value = p.alpha * outputs.sums[r][c + i] + p.beta * pack.at[i];
                if constexpr (BIASED) value += p.epilogue.bias ? p.epilogue.bias[column + i] : 0.0f;
                pack.at[i] = p.causal && column + i > row ? -INFINITY : value;
            }
            store_pack<WIDTH>(to + column, pack);
        }
    }
}

/* output = f of what this thread has stored, which it reads again: no register holds it beside the function's own. */
template <int WIDTH, typename Shape, typename Function>
__device__ void finish(const Product& p, const Job& job, const Function& f) {
    for (int r = 0; r < BLOCK_ROWS; r++) {
        const int64_t row = job.row + Outputs<Shape>::row(r);
        if (row >= job.rows) return;
        for (int c = 0; c < BLOCK_COLUMNS; c += WIDTH) {
            const int64_t column = job.column + Outputs<Shape>::column(c), at = row * p.c_stride + column;
            if (column >= p.columns) break;
            Pack<WIDTH> pack = load_pack<WIDTH>(job.C + at);
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                const float x[1] = {pack.at[i]};
                float y[1];
                f(x, y);
                pack.at[i] = y[0];
            }
            store_pack<WIDTH>(p.epilogue.output + at, pack);
        }
    }
}

template <typename Shape, bool A_ALONG, bool B_ALONG, bool QUADS, bool FINISHED>
__global__ void __launch_bounds__(Shape::THREADS, QUADS ? Shape::RESIDENT : 1) product_kernel(const Product p) {
    __shared__ Job job; /* shared: it takes no registers while tiles are multiplied */
    if (threadIdx.x < WARP) {
        const Job found = locate<Shape>(p);
        if (lane_of_thread() == 0) job = found;
    }
    __syncthreads();
    if (job.row >= job.rows) return;
    Outputs<Shape> outputs;
    outputs.fill(job.broken ? not_a_number() : 0.0f);
    const bool all_masked = p.causal && job.column > job.row + Shape::ROWS - 1;
    if (!job.broken && !all_masked) {
        const int rows = static_cast<int>(job.rows), columns = static_cast<int>(p.columns);
        const int depth = static_cast<int>(job.depth);
        const Factor<A_ALONG, QUADS> a = {job.A, p.a_stride, rows, depth};
        const Factor<B_ALONG, QUADS> b = {job.B, p.b_stride, columns, depth};
        multiply_tile(a, b, job.row, job.column, outputs);
    }
    if (p.c_quads) store<4, FINISHED>(p, job, outputs);
    else store<1, FINISHED>(p, job, outputs);
    if constexpr (FINISHED)
        with_activation(p.epilogue.activation, p.epilogue.alpha, [&](const auto& f) {
            if (p.c_quads) finish<4, Shape>(p, job, f);
            else finish<1, Shape>(p, job, f);
        });
}

template <typename Shape> int64_t blocks_in(const Product& p) {
    const int64_t across = ceil_div(p.columns, Shape::COLUMNS), down = ceil_div(p.rows, Shape::ROWS);
    if (p.groups == Groups::ROWS) return across * (p.rows / Shape::ROWS + p.experts);
    return across * down * (p.groups == Groups::DEPTH ? p.experts : p.batches * p.heads);
}

template <typename Shape, bool A_ALONG, bool B_ALONG, bool FINISHED = false>
int32_t launch(const Product& p, bool quads, void* stream) {
    if (blocks_in<Shape>(p) > INT32_MAX) return ASSAYER_UNSUPPORTED; /* past a grid's first axis */
    const unsigned blocks = blocks_for(blocks_in<Shape>(p), 1);
    constexpr int THREADS = Shape::THREADS;
    const cudaStream_t on = stream_of(stream);
    if (quads) product_kernel<Shape, A_ALONG, B_ALONG, true, FINISHED><<<blocks, THREADS, 0, on>>>(p);
    else product_kernel<Shape, A_ALONG, B_ALONG, false, FINISHED><<<blocks, THREADS, 0, on>>>(p);
    return launched();
}

template <typename Shape, bool A_ALONG, bool B_ALONG>
int32_t launch_either(const Product& p, bool quads, void* stream) {
    if constexpr (A_ALONG && B_ALONG)
        if (p.epilogue.output) return launch<Shape, true, true, true>(p, quads, stream);
    return launch<Shape, A_ALONG, B_ALONG>(p, quads, stream);
}

template <bool A_ALONG, bool B_ALONG> int32_t choose(const Product& p, bool quads, void* stream) {
    using Large = TileShape<128, 128>;
    if (p.rows >= 96 && blocks_in<Large>(p) >= 64) return launch_either<Large, A_ALONG, B_ALONG>(p, quads, stream);
    if (p.rows > 32) return launch_either<TileShape<64, 64>, A_ALONG, B_ALONG>(p, quads, stream);
    return launch_either<TileShape<32, 64>, A_ALONG, B_ALONG>(p, quads, stream);
}

/* True where what lies side by side in either factor is a whole number of quads. */
bool factors_in_quads(const Product& p) {
    int64_t all = p.a_stride | p.b_stride | p.a_batch | p.b_batch | p.a_head | p.b_expert;
    all |= p.a_along ? p.depth : p.rows;
    all |= p.b_along ? p.depth : p.columns;
    return all % 4 == 0 && phase_of(p.A) == 0 && phase_of(p.B) == 0;
}

bool outputs_in_quads(const Product& p) {
    const int64_t all = p.columns | p.c_stride | p.c_batch | p.c_head | p.c_expert;
    return all % 4 == 0 && phase_of(p.C) == 0 && phase_of(p.epilogue.output) == 0;
}

} // namespace

int32_t multiply(Product p, void* stream) {
    const bool quads = factors_in_quads(p);
    p.c_quads = outputs_in_quads(p);
    if (p.a_along) return p.b_along ? choose<true, true>(p, quads, stream) : choose<true, false>(p, quads, stream);
    return p.b_along ? choose<false, true>(p, quads, stream) : choose<false, false>(p, quads, stream);
}
