/* The kernel of all products, and which tiles it works in. */
#include "product.cuh"

#include "activations.cuh"
#include "functions.cuh"
#include "tile_shapes.cuh"

namespace {

/* WIDTH columns at a time, of which a row is a whole number. */
template <int WIDTH, bool BIASED, typename Shape>
__device__ void store(const Product& p, const Job& job, const Outputs<Shape>& outputs) {
#pragma unroll
    for (int r = 0; r < BLOCK_ROWS; r++) {
        const int64_t row = job.row + outputs.row(r);
        if (row >= job.rows) continue;
        float* const to = p.C + job.c + row * p.c_stride;
#pragma unroll
        for (int c = 0; c < BLOCK_COLUMNS; c += WIDTH) {
            const int64_t column = job.column + outputs.column(c);
            if (column >= p.columns) continue;
            Pack<WIDTH> pack = p.beta == 0.0f ? Pack<WIDTH>{} : load_pack<WIDTH>(to + column);
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                float value = p.alpha * outputs.sums[r][c + i] + p.beta * pack.at[i];
                if constexpr (BIASED) value += p.biased ? p.epilogue.bias[column + i] : 0.0f;
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
            const int64_t column = job.column + Outputs<Shape>::column(c), at = job.c + row * p.c_stride + column;
            if (column >= p.columns) break;
            Pack<WIDTH> pack = load_pack<WIDTH>(p.C + at);
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
        const int64_t across = ceil_div(p.columns, Shape::COLUMNS);
        const Job found = locate<Shape>(p, blockIdx.x / across, blockIdx.x % across);
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
        const Factor<A_ALONG, QUADS> a = {p.A + job.a, p.a_stride, rows, depth};
        const Factor<B_ALONG, QUADS> b = {p.B + job.b, p.b_stride, columns, depth};
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
    return with_tile_shape(
        p, [&](auto shape) { return launch_either<decltype(shape), A_ALONG, B_ALONG>(p, quads, stream); });
}

} // namespace

bool factors_in_quads(const Product& p) {
    int64_t all = p.a_stride | p.b_stride | p.a_batch | p.b_batch | p.a_head | p.b_expert;
    all |= p.a_along ? p.depth : p.rows;
    all |= p.b_along ? p.depth : p.columns;
    return all % 4 == 0 && phase_of(p.A) == 0 && phase_of(p.B) == 0;
}

namespace {

bool outputs_in_quads(const Product& p) {
    const int64_t all = p.columns | p.c_stride | p.c_batch | p.c_head | p.c_expert;
    return all % 4 == 0 && phase_of(p.C) == 0 && phase_of(p.epilogue.output) == 0;
}

} // namespace

int32_t multiply(Product p, void* stream) {
    const bool quads = factors_in_quads(p);
    p.c_quads = outputs_in_quads(p);
    p.biased = p.epilogue.bias != nullptr;
    if (p.a_along) return p.b_along ? choose<true, true>(p, quads, stream) : choose<true, false>(p, quads, stream);
    return p.b_along ? choose<false, true>(p, quads, stream) : choose<false, false>(p, quads, stream);
}
