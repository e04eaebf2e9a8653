/* The kernel of all products of 16-bit numbers, of float16 for sm_70 and later, of bfloat16, which older units do not
 * have, for sm_80 and later: matrix_bf16.cu and matrix_fp16.cu hold it for their format.
 *
 * A block has a tile of 128 x 256 outputs (or 128 x 128, or 64 x 64), a warp 64 x 64 of them (or 32 x 32). Of 2 K
 * operations an output it reads (1 / rows + 1 / columns of the tile) * K numbers of 2 bytes: what bounds it are the
 * matrix units, and of small K the outputs. */
#ifndef ASSAYER_MATRIX_CUH
#define ASSAYER_MATRIX_CUH

#include "cast.cuh"
#include "functions.cuh"
#include "locate.cuh"
#include "matrix_float.cuh"
#include "scratch.cuh"

/* A product, and where the depth is split among blocks: each adds up its part, and what they have is added up later. */
template <typename Out> struct MatrixProduct : ProductOf<half_bits, Out> {
    float* parts = nullptr; /* [splits, rows, columns], or none */
    int64_t part = 0;       /* of the depth, that a split adds up */
};

namespace {

/* to = alpha * sums + beta * to for `left` numbers of a chunk, each rounded once; WIDTH at a time, of which they are a
 * whole number. */
template <int WIDTH, typename Format, typename Out>
__device__ void finish_chunk(Out* to, const float (&sums)[CHUNK], int64_t left, float alpha, float beta) {
#pragma unroll
    for (int c = 0; c < CHUNK; c += WIDTH) {
        if (c >= left) return;
        Pack<WIDTH, Out> pack = beta == 0.0f ? Pack<WIDTH, Out>{} : load_pack<WIDTH>(to + c);
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            /* fmaf: else the compiler fuses which product it likes, in one path this, in another that */
            if constexpr (std::is_same_v<Out, float>) pack.at[i] = fmaf(alpha, sums[c + i], beta * pack.at[i]);
            else pack.at[i] = Format::narrow(fmaf(alpha, sums[c + i], beta * Format::widen(pack.at[i])));
        }
        store_pack<WIDTH>(to + c, pack);
    }
}

template <typename Format, typename Out>
__device__ void finish_chunk(Out* to, const float (&sums)[CHUNK], int64_t left, float alpha, float beta, bool whole) {
    if (whole) finish_chunk<WHOLE<Out>, Format>(to, sums, left, alpha, beta);
    else finish_chunk<1, Format>(to, sums, left, alpha, beta);
}

/* Sixteen rows of a warp's outputs in shared memory, on their way from the lanes that have them to those that store
 * them; eight more to a row spread what is written over the banks. */
template <typename Shape> using Slab = float[16][Shape::WARP_COLUMNS + 8];

/* Those of a warp's fragments in row i. */
template <typename Units, typename Shape>
__device__ void put_rows(const MatrixOutputs<Shape>& outputs, int i, Slab<Shape>& slab) {
#pragma unroll
    for (int j = 0; j < Shape::ACROSS; j++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            *reinterpret_cast<float2*>(&slab[Units::row(half)][Units::column(j)]) =
                make_float2(outputs.sums[i][j][2 * half], outputs.sums[i][j][2 * half + 1]);
}

__device__ inline void load_chunk(const float* from, float (&chunk)[CHUNK]) {
#pragma unroll
    for (int c = 0; c < CHUNK; c += 4) {
        const Quad quad = load_quad(from + c);
        memcpy(chunk + c, &quad, sizeof quad);
    }
}

template <typename Units, typename Format, typename Shape, typename Out>
__device__ void store(const MatrixProduct<Out>& p, const Job& job, const MatrixOutputs<Shape>& outputs,
                      Slab<Shape>& slab) {
    constexpr int LANES = Shape::WARP_COLUMNS / CHUNK; /* a row */
    const int lane = lane_of_thread(), to_the_right = lane % LANES * CHUNK;
    const int64_t column = job.column + Shape::warp_column() + to_the_right;
#pragma unroll
    for (int i = 0; i < Shape::DOWN; i++) {
        __syncwarp(); /* the rows before have been read */
        put_rows<Units>(outputs, i, slab);
        __syncwarp();
#pragma unroll
        for (int r = lane / LANES; r < 16; r += WARP / LANES) {
            const int64_t row = job.row + Shape::warp_row() + 16 * i + r;
            if (row >= job.rows || column >= p.columns) continue;
            float sums[CHUNK];
            load_chunk(&slab[r][to_the_right], sums);
            const int64_t left = p.columns - column;
            if (p.parts)
                finish_chunk<Format>(p.parts + job.c + row * p.columns + column, sums, left, 1.0f, 0.0f,
                                     p.columns % 4 == 0);
            else finish_chunk<Format>(p.C + job.c + row * p.c_stride + column, sums, left, p.alpha, p.beta, p.c_quads);
        }
    }
}

/* Tiles of neighbouring blocks lie in a square of about 2048 rows, so that what they read stays in the L2. */
template <typename Shape, typename Out> __device__ Job locate_block(const MatrixProduct<Out>& p) {
    constexpr int64_t HIGH = 2048 / Shape::ROWS;
    const int64_t across = ceil_div(p.columns, Shape::COLUMNS), down = gridDim.x / across;
    const int64_t band = blockIdx.x / (HIGH * across), within = blockIdx.x % (HIGH * across);
    const int64_t height = min64(HIGH, down - band * HIGH);
    Job job = locate<Shape>(p, band * HIGH + within % height, within / height);
    if (p.parts) {
        const int64_t first = blockIdx.y * p.part;
        job.a += first * (p.a_along ? 1 : p.a_stride);
        job.b += first * (p.b_along ? 1 : p.b_stride);
        job.c = blockIdx.y * p.rows * p.columns;
        job.depth = min64(p.part, p.depth - first);
    }
    return job;
}

template <typename Units, typename Format, typename Shape, bool A_ALONG, bool B_ALONG, bool ALIGNED, typename Out>
__device__ void compute(const MatrixProduct<Out>& p, const Job& job, half_bits* stages) {
    MatrixOutputs<Shape> outputs;
    outputs.fill(job.broken ? not_a_number() : 0.0f);
    if (!job.broken) {
        const HalfFactor<A_ALONG, ALIGNED> a = {p.A + job.a, p.a_stride, job.rows, job.depth};
        const HalfFactor<B_ALONG, ALIGNED> b = {p.B + job.b, p.b_stride, p.columns, job.depth};
        constexpr bool TO_FLOAT = std::is_same_v<Out, float>;
        if (TO_FLOAT && (p.parts ? p.depth : job.depth) <= deepest_in_float())
            multiply_tile_in_float<Units, Format>(a, b, job.row, job.column, stages, outputs);
        else multiply_matrix_tile<Units, typename Format::Number, TO_FLOAT>(a, b, job.row, job.column, stages, outputs);
        __syncthreads();
    }
    using OfWarp = Slab<Shape>;
    store<Units, Format>(p, job, outputs, reinterpret_cast<OfWarp*>(stages)[Shape::warp()]);
}

template <typename Format, typename Shape, bool A_ALONG, bool B_ALONG, bool ALIGNED, typename Out>
__global__ void __launch_bounds__(Shape::THREADS, Shape::RESIDENT) matrix_kernel(const MatrixProduct<Out> p) {
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
            if (has_quads()) return compute<QuadUnits, Format, Shape, A_ALONG, B_ALONG, ALIGNED>(p, job, stages);
        if constexpr (UNITS_OF >= 75) compute<WarpUnits, Format, Shape, A_ALONG, B_ALONG, ALIGNED>(p, job, stages);
    }
}

/* C = alpha * (the sum of the parts, in their order) + beta * C. */
template <typename Format, typename Out>
__global__ void __launch_bounds__(256) add_splits_kernel(const MatrixProduct<Out> p, int splits, bool whole) {
    const int64_t n = p.rows * p.columns, at = (blockIdx.x * int64_t{256} + threadIdx.x) * CHUNK;
    if (at >= n) return;
    float sums[CHUNK] = {};
    for (int split = 0; split < splits; split++) {
        const float* const from = p.parts + split * n + at;
#pragma unroll
        for (int c = 0; c < CHUNK; c++)
            if (at + c < n) sums[c] += from[c];
    }
    finish_chunk<Format>(p.C + at, sums, n - at, p.alpha, p.beta, whole);
}

using Large = MatrixShape<128, 256, 64, 64, 32, 4, 1>;
using Medium = MatrixShape<128, 128, 64, 64, 32, 3, 2>;
using Small = MatrixShape<64, 64, 32, 32, 32, 4, 2>;

template <typename Shape> constexpr int shared_bytes() {
    constexpr int STAGES = Shape::STAGES * Shape::STAGE * int{sizeof(half_bits)};
    constexpr int SLABS = Shape::WARPS * int{sizeof(Slab<Shape>)};
    return STAGES > SLABS ? STAGES : SLABS;
}

template <typename Shape, typename Out> int64_t tiles_of(const ProductOf<half_bits, Out>& p) {
    return ceil_div(p.columns, Shape::COLUMNS) * tiles_down<Shape>(p);
}

template <typename Format, typename Shape, bool A_ALONG, bool B_ALONG, bool ALIGNED, typename Out>
int32_t launch(const MatrixProduct<Out>& p, int64_t splits, void* stream) {
    if (tiles_of<Shape>(p) > INT32_MAX) return ASSAYER_UNSUPPORTED; /* past a grid's first axis */
    const auto kernel = matrix_kernel<Format, Shape, A_ALONG, B_ALONG, ALIGNED, Out>;
    TRY(code_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes<Shape>())));
    const dim3 grid(blocks_for(tiles_of<Shape>(p), 1), static_cast<unsigned>(splits));
    kernel<<<grid, Shape::THREADS, shared_bytes<Shape>(), stream_of(stream)>>>(p);
    return launched();
}

/* How many blocks share the depth of a product with few tiles, each at least 512 of it. */
template <typename Shape, typename Out>
int64_t splits_for(const ProductOf<half_bits, Out>& p, int64_t multiprocessors) {
    if (p.groups != Groups::NONE || p.batches * p.heads != 1) return 1;
    const int64_t wanted = min64(multiprocessors * Shape::RESIDENT / tiles_of<Shape>(p), p.depth / 512);
    return wanted > 1 ? wanted : 1;
}

template <typename Format, typename Shape, bool A_ALONG, bool B_ALONG, bool ALIGNED, typename Out>
int32_t launch_split(const ProductOf<half_bits, Out>& p, int64_t wanted, void* stream) {
    if (wanted == 1) return launch<Format, Shape, A_ALONG, B_ALONG, ALIGNED>(MatrixProduct<Out>{p}, 1, stream);
    const int64_t part = ceil_div(ceil_div(p.depth, wanted), Shape::DEPTH) * Shape::DEPTH, n = p.rows * p.columns;
    const int64_t splits = ceil_div(p.depth, part);
    const Scratch scratch(splits * n * int64_t{sizeof(float)}, stream_of(stream));
    TRY(scratch.code());
    const MatrixProduct<Out> split = {p, scratch.as<float>(), part};
    TRY((launch<Format, Shape, A_ALONG, B_ALONG, ALIGNED>(split, splits, stream)));
    const bool whole = n % WHOLE<Out> == 0 && phase_of(p.C) == 0;
    add_splits_kernel<Format, Out>
        <<<blocks_for(ceil_div(n, CHUNK), 256), 256, 0, stream_of(stream)>>>(split, static_cast<int>(splits), whole);
    return launched();
}

/* The architecture that the kernels were compiled for, whose units multiply: a library without machine code for a
 * device starts from PTX, which may be an older one's.  0 where it is not known. */
template <typename Format> int units_of_device() {
    cudaFuncAttributes attributes = {};
    return succeeded(cudaFuncGetAttributes(&attributes, add_splits_kernel<Format, half_bits>)) ? attributes.ptxVersion
                                                                                               : 0;
}

/* Whether a block may have as much shared memory: on sm_75 no large one.  Registers of sm_70 hold small tiles alone:
 * matrix_quads.cuh. */
template <typename Shape> bool has_room(int units) {
    const int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    return units >= 75 && shared_bytes<Shape>() + int{sizeof(Job)} <= most;
}

/* The largest tiles of which there are enough for all multiprocessors, the depth split where that takes it. */
template <typename Format, bool A_ALONG, bool B_ALONG, typename Out>
int32_t choose(const ProductOf<half_bits, Out>& p, bool aligned, int units, void* stream) {
    const int64_t multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
    const int64_t rows = p.groups == Groups::ROWS ? p.rows / p.experts : p.rows;
    const int64_t of_medium = splits_for<Medium>(p, multiprocessors), of_small = splits_for<Small>(p, multiprocessors);
    if (!aligned) return launch_split<Format, Small, A_ALONG, B_ALONG, false>(p, of_small, stream);
    if (rows >= 96 && p.columns >= 192 && tiles_of<Large>(p) >= multiprocessors && has_room<Large>(units))
        return launch_split<Format, Large, A_ALONG, B_ALONG, true>(p, 1, stream);
    if (rows >= 96 && p.columns >= 96 && tiles_of<Medium>(p) * of_medium >= multiprocessors && has_room<Medium>(units))
        return launch_split<Format, Medium, A_ALONG, B_ALONG, true>(p, of_medium, stream);
    return launch_split<Format, Small, A_ALONG, B_ALONG, true>(p, of_small, stream);
}

/* True where what lies side by side in either factor is whole, aligned chunks. */
template <typename Out> bool factors_in_chunks(const ProductOf<half_bits, Out>& p) {
    int64_t all = p.a_stride | p.b_stride | p.a_batch | p.b_batch | p.a_head | p.b_expert;
    all |= p.a_along ? p.depth : p.rows;
    all |= p.b_along ? p.depth : p.columns;
    return all % CHUNK == 0 && phase_of(p.A) == 0 && phase_of(p.B) == 0;
}

template <typename Out> bool outputs_in_packs(const ProductOf<half_bits, Out>& p) {
    const int64_t all = p.columns | p.c_stride | p.c_batch | p.c_head | p.c_expert;
    return all % WHOLE<Out> == 0 && phase_of(p.C) == 0;
}

template <typename Format> int32_t multiply_by_units(ProductOf<half_bits> p, int units, void* stream) {
    const bool aligned = factors_in_chunks(p);
    p.c_quads = outputs_in_packs(p);
    if (!p.a_along) return choose<Format, false, true>(p, aligned, units, stream);
    if (!p.b_along) return choose<Format, true, false>(p, aligned, units, stream);
    return choose<Format, true, true>(p, aligned, units, stream);
}

/* Weights' gradients, whose factors both lie across their depth; or a router's logits, both along it, of few columns.
 */
template <typename Format> int32_t multiply_by_units(ProductOf<half_bits, float> p, int units, void* stream) {
    const bool aligned = factors_in_chunks(p);
    p.c_quads = outputs_in_packs(p);
    if (!p.a_along) return choose<Format, false, false>(p, aligned, units, stream);
    const int64_t splits = splits_for<Small>(p, device_attribute(cudaDevAttrMultiProcessorCount));
    return aligned ? launch_split<Format, Small, true, true, true>(p, splits, stream)
                   : launch_split<Format, Small, true, true, false>(p, splits, stream);
}

/* In float32, between two conversions. */
template <typename Format, typename Out> int32_t multiply_widened(const ProductOf<half_bits, Out>& p, void* stream) {
    const int64_t of_a = p.rows * p.depth, of_b = p.columns * p.depth * (p.groups == Groups::ROWS ? p.experts : 1);
    const int64_t of_c = std::is_same_v<Out, float> ? 0 : p.rows * p.columns;
    const auto lines = [](int64_t n) { return ceil_div(n, 64) * 64; }; /* where the next array begins */
    const Scratch scratch((lines(of_a) + lines(of_b) + of_c) * int64_t{sizeof(float)}, stream_of(stream));
    TRY(scratch.code());
    float *const a = scratch.as<float>(), *const b = a + lines(of_a), *const c = b + lines(of_b);
    TRY(widen(Format(), p.A, a, of_a, stream));
    TRY(widen(Format(), p.B, b, of_b, stream));
    Product wide = {a, b, c, p.a_along, p.b_along, p.rows, p.columns, p.depth, p.a_stride, p.b_stride, p.c_stride};
    wide.alpha = p.alpha, wide.beta = p.beta;
    wide.groups = p.groups, wide.offsets = p.offsets, wide.experts = p.experts, wide.grouped = p.grouped;
    wide.b_expert = p.b_expert, wide.c_expert = p.c_expert;
    if constexpr (std::is_same_v<Out, float>) {
        wide.C = p.C;
        return multiply(wide, stream);
    } else {
        if (p.beta != 0.0f) TRY(widen(Format(), p.C, c, of_c, stream));
        TRY(multiply(wide, stream));
        return narrow(Format(), c, p.C, of_c, stream);
    }
}

template <typename Format, typename Out> int32_t multiply_either(const ProductOf<half_bits, Out>& p, void* stream) {
    const int units = units_of_device<Format>();
    if (units < FIRST_UNITS<typename Format::Number>) return multiply_widened<Format>(p, stream);
    return multiply_by_units<Format>(p, units, stream);
}

} // namespace

#endif
