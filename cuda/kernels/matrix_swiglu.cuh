/* Gate and up of 16-bit numbers as one product with SwiGLU behind it, for the units of matrix.cuh: matrix_bf16.cu and
 * matrix_fp16.cu hold it for their format.
 *
 * Half of a block's columns, and half of each warp's, are gate's, half are up's: A is read once for both, and a warp
 * has both sums of every output.  It stores three numbers for 4 K operations: what bounds it are the matrix units, and
 * of K below some 400 the outputs.  The depth is not split: SwiGLU needs whole sums. */
#ifndef ASSAYER_MATRIX_SWIGLU_CUH
#define ASSAYER_MATRIX_SWIGLU_CUH

#include "matrix.cuh"

namespace {

struct GatedMatrix : MatrixProduct<half_bits> {
    const half_bits* B_up;
    half_bits *up, *output;
};

/* Gate, up and what they make: of a slab's row the left half is gate's columns, the right half the same of up. */
template <typename Units, typename Format, typename Shape>
__device__ void store_gated(const GatedMatrix& p, const Job& job, const MatrixOutputs<Shape>& outputs,
                            Slab<Shape>& slab) {
    constexpr int TURN = Shape::WARP_COLUMNS / 2, LANES = TURN / CHUNK; /* a row */
    const int lane = lane_of_thread(), to_the_right = lane % LANES * CHUNK;
    const int64_t columns = p.columns / 2;
    const int64_t column = place_in_turns(job.column + Shape::warp_column(), TURN) + to_the_right;
#pragma unroll
    for (int i = 0; i < Shape::DOWN; i++) {
        __syncwarp(); /* the rows before have been read */
        put_rows<Units>(outputs, i, slab);
        __syncwarp();
#pragma unroll
        for (int r = lane / LANES; r < 16; r += WARP / LANES) {
            const int64_t row = job.row + Shape::warp_row() + 16 * i + r;
            if (row >= job.rows || column >= columns) continue;
            const int64_t at = job.c + row * p.c_stride + column, left = columns - column;
            float gate[CHUNK], up[CHUNK], output[CHUNK];
            load_chunk(&slab[r][to_the_right], gate);
            load_chunk(&slab[r][TURN + to_the_right], up);
#pragma unroll
            for (int c = 0; c < CHUNK; c++) output[c] = swiglu(gate[c], up[c]);
            finish_chunk<Format>(p.C + at, gate, left, 1.0f, 0.0f, p.c_quads);
            finish_chunk<Format>(p.up + at, up, left, 1.0f, 0.0f, p.c_quads);
            finish_chunk<Format>(p.output + at, output, left, 1.0f, 0.0f, p.c_quads);
        }
    }
}

template <typename Units, typename Format, typename Shape, bool ALIGNED>
__device__ void compute_gated(const GatedMatrix& p, const Job& job, half_bits* stages) {
    MatrixOutputs<Shape> outputs;
    outputs.fill(job.broken ? not_a_number() : 0.0f);
    if (!job.broken) {
        const HalfFactor<true, ALIGNED> a = {p.A + job.a, p.a_stride, job.rows, job.depth};
        const PairedHalfFactor<ALIGNED, Shape::WARP_COLUMNS / 2> b = {p.B + job.b, p.B_up + job.b, p.b_stride,
                                                                      p.columns / 2, job.depth};
        multiply_matrix_tile<Units, typename Format::Number, false>(a, b, job.row, job.column, stages, outputs);
        __syncthreads();
    }
    using OfWarp = Slab<Shape>;
    store_gated<Units, Format>(p, job, outputs, reinterpret_cast<OfWarp*>(stages)[Shape::warp()]);
}

template <typename Format, typename Shape, bool ALIGNED>
__global__ void __launch_bounds__(Shape::THREADS, Shape::RESIDENT) matrix_swiglu_kernel(const GatedMatrix p) {
    if constexpr (MATRIX_UNITS<typename Format::Number>) {
        extern __shared__ __align__(128) half_bits stages[];
        __shared__ Job job; /* shared: it takes no registers while tiles are multiplied */
        if (threadIdx.x < WARP) {
            const Job found = locate_block<Shape>(p);
            if (lane_of_thread() == 0) job = found;
        }
        __syncthreads();
        if (job.row >= job.rows) return;
        if constexpr (BY_QUADS<typename Format::Number, Shape>)
            if (has_quads()) return compute_gated<QuadUnits, Format, Shape, ALIGNED>(p, job, stages);
        if constexpr (UNITS_OF >= 75) compute_gated<WarpUnits, Format, Shape, ALIGNED>(p, job, stages);
    }
}

template <typename Format, typename Shape, bool ALIGNED> int32_t launch_gated(const GatedMatrix& p, void* stream) {
    if (tiles_of<Shape>(p) > INT32_MAX) return ASSAYER_UNSUPPORTED; /* past a grid's first axis */
    const auto kernel = matrix_swiglu_kernel<Format, Shape, ALIGNED>;
    TRY(code_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes<Shape>())));
    const unsigned blocks = blocks_for(tiles_of<Shape>(p), 1);
    kernel<<<blocks, Shape::THREADS, shared_bytes<Shape>(), stream_of(stream)>>>(p);
    return launched();
}

/* The largest tiles of which there are enough for all multiprocessors. */
template <typename Format> int32_t gated_by_units(GatedMatrix p, int units, void* stream) {
    const int64_t multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
    const int64_t rows = p.groups == Groups::ROWS ? p.rows / p.experts : p.rows, columns = p.columns / 2;
    const auto in_packs = [&](const half_bits* array) { return columns % CHUNK == 0 && phase_of(array) == 0; };
    p.c_quads = in_packs(p.C) && in_packs(p.up) && in_packs(p.output);
    if (!factors_in_chunks(p) || phase_of(p.B_up) != 0) return launch_gated<Format, Small, false>(p, stream);
    if (rows >= 96 && p.columns >= 192 && tiles_of<Large>(p) >= multiprocessors && has_room<Large>(units))
        return launch_gated<Format, Large, true>(p, stream);
    if (rows >= 96 && p.columns >= 96 && tiles_of<Medium>(p) >= multiprocessors && has_room<Medium>(units))
        return launch_gated<Format, Medium, true>(p, stream);
    return launch_gated<Format, Small, true>(p, stream);
}

/* Without such units: in float32, between two conversions. */
template <typename Format> int32_t gated_widened(const GatedProduct<half_bits>& p, void* stream) {
    const int64_t experts = p.groups == Groups::NONE ? 1 : p.experts, columns = p.columns / 2;
    const int64_t of_a = p.rows * p.depth, of_b = columns * p.depth * experts, of_c = p.rows * columns;
    const auto lines = [](int64_t n) { return ceil_div(n, 64) * 64; }; /* where the next array begins */
    const int64_t all = lines(of_a) + 2 * lines(of_b) + 3 * lines(of_c);
    const Scratch scratch(all * int64_t{sizeof(float)}, stream_of(stream));
    TRY(scratch.code());
    float *const a = scratch.as<float>(), *const b = a + lines(of_a), *const b_up = b + lines(of_b);
    float *const gate = b_up + lines(of_b), *const up = gate + lines(of_c), *const output = up + lines(of_c);
    TRY(widen(Format(), p.A, a, of_a, stream));
    TRY(widen(Format(), p.B, b, of_b, stream));
    TRY(widen(Format(), p.B_up, b_up, of_b, stream));
    Product wide = {a, b, gate, true, true, p.rows, p.columns, p.depth, p.a_stride, p.b_stride, p.c_stride};
    wide.groups = p.groups, wide.offsets = p.offsets, wide.experts = p.experts, wide.grouped = p.grouped;
    wide.b_expert = p.b_expert;
    TRY(multiply_gated(GatedProduct<float>{wide, b_up, up, output}, stream));
    TRY(narrow(Format(), gate, p.C, of_c, stream));
    TRY(narrow(Format(), up, p.up, of_c, stream));
    return narrow(Format(), output, p.output, of_c, stream);
}

template <typename Format> int32_t gated_either(const GatedProduct<half_bits>& p, void* stream) {
    const int units = units_of_device<Format>();
    if (units < FIRST_UNITS<typename Format::Number>) return gated_widened<Format>(p, stream);
    return gated_by_units<Format>(GatedMatrix{{p}, p.B_up, p.up, p.output}, units, stream);
}

} // namespace

#endif
