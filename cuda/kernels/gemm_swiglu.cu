/* Gate and up as one product with SwiGLU behind it: the kernel in float32, and the operations of assayer.h.
 *
 * Of a thread's 8 x 8 outputs four columns are gate's and four the same columns of up: A is read once for both, and
 * what SwiGLU reads lies in registers.  A block reads (1 / rows + 1 / columns of the tile) * K floats an output, and
 * multiplies each row's by all columns: bound by the arithmetic. */
#include "functions.cuh"
#include "matrix_bf16.cuh"
#include "matrix_fp16.cuh"
#include "tile_shapes.cuh"

namespace {

/* WIDTH columns at a time, of which a row is a whole number. */
template <int WIDTH, typename Shape>
__device__ void store_gated_rows(const GatedProduct<float>& p, const Job& job, const Outputs<Shape>& outputs) {
    constexpr int HALF = BLOCK_COLUMNS / 2;
    const int64_t first = place_in_turns(job.column + outputs.column(0), WARP_COLUMNS / 2);
#pragma unroll
    for (int r = 0; r < BLOCK_ROWS; r++) {
        const int64_t row = job.row + outputs.row(r);
        if (row >= job.rows) continue;
#pragma unroll
        for (int c = 0; c < HALF; c += WIDTH) {
            if (first + c >= p.columns / 2) continue;
            const int64_t at = job.c + row * p.c_stride + first + c;
            Pack<WIDTH> gate, up, output;
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                gate.at[i] = outputs.sums[r][c + i];
                up.at[i] = outputs.sums[r][HALF + c + i];
                output.at[i] = swiglu(gate.at[i], up.at[i]);
            }
            store_pack<WIDTH>(p.C + at, gate);
            store_pack<WIDTH>(p.up + at, up);
            store_pack<WIDTH>(p.output + at, output);
        }
    }
}

template <typename Shape, bool QUADS>
__global__ void __launch_bounds__(Shape::THREADS, QUADS ? Shape::RESIDENT : 1)
    gemm_swiglu_kernel(const GatedProduct<float> p) {
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
    if (!job.broken) {
        const int rows = static_cast<int>(job.rows), columns = static_cast<int>(p.columns / 2);
        const int depth = static_cast<int>(job.depth);
        const Factor<true, QUADS> a = {p.A + job.a, p.a_stride, rows, depth};
        const PairedFactor<QUADS> b = {p.B + job.b, p.B_up + job.b, p.b_stride, columns, depth};
        multiply_tile(a, b, job.row, job.column, outputs);
    }
    if (p.c_quads) store_gated_rows<4>(p, job, outputs);
    else store_gated_rows<1>(p, job, outputs);
}

template <typename Shape> int32_t launch_gated(const GatedProduct<float>& p, bool quads, void* stream) {
    if (blocks_in<Shape>(p) > INT32_MAX) return ASSAYER_UNSUPPORTED; /* past a grid's first axis */
    const unsigned blocks = blocks_for(blocks_in<Shape>(p), 1);
    const cudaStream_t on = stream_of(stream);
    if (quads) gemm_swiglu_kernel<Shape, true><<<blocks, Shape::THREADS, 0, on>>>(p);
    else gemm_swiglu_kernel<Shape, false><<<blocks, Shape::THREADS, 0, on>>>(p);
    return launched();
}

} // namespace

int32_t multiply_gated(const GatedProduct<float>& product, void* stream) {
    GatedProduct<float> p = product;
    const bool quads = factors_in_quads(p) && phase_of(p.B_up) == 0;
    p.c_quads = rows_of_quads(p.columns / 2, p.C, p.up, p.output);
    return with_tile_shape(p, [&](auto shape) { return launch_gated<decltype(shape)>(p, quads, stream); });
}

namespace {

/* All rows by one expert's weights; of several experts the caller says whose the rows are. */
template <typename T>
GatedProduct<T> gated(const T* A, const T* B_gate, const T* B_up, T* gate, T* up, T* output, int64_t rows, int64_t N,
                      int64_t K) {
    return {{A, B_gate, gate, true, true, rows, 2 * N, K, K, K, N}, B_up, up, output};
}

template <typename T, typename Multiply>
int32_t dense(const T* A, const T* B_gate, const T* B_up, T* gate, T* up, T* output, int M, int N, int K,
              const Multiply& multiply) {
    CHECK_ARRAY(A, M, K);
    CHECK_ARRAY(B_gate, N, K);
    CHECK_ARRAY(B_up, N, K);
    CHECK_ARRAY(gate, M, N);
    CHECK_ARRAY(up, M, N);
    CHECK_ARRAY(output, M, N);
    return multiply(gated(A, B_gate, B_up, gate, up, output, M, N, K));
}

template <typename T, typename Multiply>
int32_t grouped(const T* A, const T* B_gate, const T* B_up, const int32_t* offsets, T* gate, T* up, T* output, int rows,
                int n_experts, int N, int K, const Multiply& multiply) {
    CHECK_ARRAY(A, rows, K);
    CHECK_ARRAY(B_gate, n_experts, N, K);
    CHECK_ARRAY(B_up, n_experts, N, K);
    CHECK_ARRAY(offsets, int64_t{n_experts} + 1);
    CHECK_ARRAY(gate, rows, N);
    CHECK_ARRAY(up, rows, N);
    CHECK_ARRAY(output, rows, N);
    GatedProduct<T> p = gated(A, B_gate, B_up, gate, up, output, rows, N, K);
    p.groups = Groups::ROWS;
    p.offsets = offsets;
    p.experts = n_experts;
    p.grouped = rows;
    p.b_expert = int64_t{N} * K;
    return multiply(p);
}

} // namespace

#define GEMM_SWIGLU(Declared, suffix, ...)                                                                             \
    int32_t cuda_gemm_swiglu##suffix(const Declared* A, const Declared* B_gate, const Declared* B_up, Declared* gate,  \
                                     Declared* up, Declared* output, int M, int N, int K, void* stream) {              \
        const auto multiply = [=](const auto& p) { return multiply_gated(__VA_ARGS__); };                              \
        return dense(A, B_gate, B_up, gate, up, output, M, N, K, multiply);                                            \
    }                                                                                                                  \
    int32_t cuda_grouped_gemm_swiglu##suffix(const Declared* A, const Declared* B_gate, const Declared* B_up,          \
                                             const int32_t* offsets, Declared* gate, Declared* up, Declared* output,   \
                                             int rows, int n_experts, int N, int K, void* stream) {                    \
        const auto multiply = [=](const auto& p) { return multiply_gated(__VA_ARGS__); };                              \
        return grouped(A, B_gate, B_up, offsets, gate, up, output, rows, n_experts, N, K, multiply);                   \
    }
GEMM_SWIGLU(float, , p, stream)
GEMM_SWIGLU(assayer_bf16, _bf16, Bf16(), p, stream)
GEMM_SWIGLU(assayer_fp16, _fp16, Fp16(), p, stream)
