/* Tensors of any layout joined along some of their axes: an element to a block where its numbers lie closest to each
 * other, an element to a thread where neighbouring elements do.  Where there are few elements each is cut into parts,
 * as many whatever the device, which are joined in their order. */
#include "strided.cuh"

#include "functions.cuh"
#include "scratch.cuh"

namespace {

constexpr int REDUCE_THREADS = 256;
constexpr int64_t PART = 8192, ENOUGH_BLOCKS = 256, PARTS_AT_MOST = 512;

/* Of a layout's operands. */
enum { OUTPUT = 0, INPUT = 1, NUMBERS = 0 };

/* The larger, or the smaller one; NaN where either is. */
struct Larger {
    __device__ float operator()(float a, float b) const { return a > b || isnan(a) ? a : b; }
};
struct Smaller {
    __device__ float operator()(float a, float b) const { return a < b || isnan(a) ? a : b; }
};
struct Times {
    __device__ float operator()(float a, float b) const { return a * b; }
};

struct Reduction {
    layout kept, numbers; /* the elements, of output and input; what each is joined of, in the input */
    const float* input;
    float* output; /* or one number for each part of each element, part by part */
    int64_t elements, each, parts;
    float none, start, divisor; /* none: what joined with x gives x */

    __device__ const float* element(int64_t number) const { return input + place_of(kept, INPUT, 0, number); }
    __device__ int64_t first(int64_t part) const { return ceil_div(each, parts) * part; }
    __device__ int64_t end(int64_t part) const { return min64(first(part) + ceil_div(each, parts), each); }

    template <typename Join> __device__ void write(int64_t number, int64_t part, float joined, Join join) const {
        if (parts > 1) output[part * elements + number] = joined;
        else output[place_of(kept, OUTPUT, 0, number)] = join(start, joined) / divisor;
    }
};

template <typename Join>
__global__ void __launch_bounds__(REDUCE_THREADS) reduce_runs_kernel(const Reduction r, Join join) {
    for (int64_t task = blockIdx.x; task < r.elements * r.parts; task += gridDim.x) {
        const int64_t number = task / r.parts, part = task % r.parts, end = r.end(part);
        const float* const from = r.element(number);
        float joined = r.none;
        for (int64_t i = r.first(part) + threadIdx.x; i < end; i += REDUCE_THREADS)
            joined = join(joined, from[place_of(r.numbers, NUMBERS, 0, i)]);
        joined = team_fold<REDUCE_THREADS>(joined, join);
        if (threadIdx.x == 0) r.write(number, part, joined, join);
    }
}

template <typename Join>
__global__ void __launch_bounds__(REDUCE_THREADS) reduce_columns_kernel(const Reduction r, Join join) {
    for (int64_t task = blockIdx.x * int64_t{REDUCE_THREADS} + threadIdx.x; task < r.elements * r.parts;
         task += gridDim.x * int64_t{REDUCE_THREADS}) {
        const int64_t number = task % r.elements, part = task / r.elements, end = r.end(part);
        const float* const from = r.element(number);
        float joined = r.none;
        for (int64_t i = r.first(part); i < end; i++) joined = join(joined, from[place_of(r.numbers, NUMBERS, 0, i)]);
        r.write(number, part, joined, join);
    }
}

template <typename Join>
__global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_parts_kernel(const Reduction r, const float* joined, Join join) {
    for (int64_t number = blockIdx.x * int64_t{REDUCE_THREADS} + threadIdx.x; number < r.elements;
         number += gridDim.x * int64_t{REDUCE_THREADS}) {
        float total = r.start;
        for (int64_t part = 0; part < r.parts; part++) total = join(total, joined[part * r.elements + number]);
        r.output[place_of(r.kept, OUTPUT, 0, number)] = total / r.divisor;
    }
}

__global__ void __launch_bounds__(REDUCE_THREADS) reduce_nothing_kernel(const Reduction r) {
    for (int64_t number = blockIdx.x * int64_t{REDUCE_THREADS} + threadIdx.x; number < r.elements;
         number += gridDim.x * int64_t{REDUCE_THREADS})
        r.output[place_of(r.kept, OUTPUT, 0, number)] = r.divisor == 0.0f ? not_a_number() : r.start;
}

template <typename Join> int32_t launch_parts(const Reduction& r, bool runs, Join join, cudaStream_t stream) {
    const int64_t tasks = r.elements * r.parts;
    if (runs) reduce_runs_kernel<Join><<<blocks_for(tasks, 1), REDUCE_THREADS, 0, stream>>>(r, join);
    else reduce_columns_kernel<Join><<<blocks_for(tasks, REDUCE_THREADS), REDUCE_THREADS, 0, stream>>>(r, join);
    return launched();
}

template <typename Join> int32_t reduce_by(Reduction r, float none, Join join, cudaStream_t stream) {
    r.none = none;
    const bool runs =
        r.kept.lengths[0] == 1 || size_of_step(r.numbers.strides[NUMBERS][0]) < size_of_step(r.kept.strides[INPUT][0]);
    const int64_t blocks = runs ? r.elements : ceil_div(r.elements, REDUCE_THREADS);
    const int64_t long_enough = ceil_div(r.each, runs ? PART : PART / WARP);
    r.parts = blocks < ENOUGH_BLOCKS ? min64(PARTS_AT_MOST, min64(long_enough, ceil_div(ENOUGH_BLOCKS, blocks))) : 1;
    if (r.parts == 1) return launch_parts(r, runs, join, stream);
    const Scratch scratch(r.parts * r.elements * static_cast<int64_t>(sizeof(float)), stream);
    TRY(scratch.code());
    Reduction to_scratch = r;
    to_scratch.output = scratch.as<float>();
    TRY(launch_parts(to_scratch, runs, join, stream));
    reduce_parts_kernel<Join>
        <<<blocks_for(r.elements, REDUCE_THREADS), REDUCE_THREADS, 0, stream>>>(r, scratch.as<float>(), join);
    return launched();
}

} // namespace

int32_t cuda_reduce_strided(const float* input, float* output, const int64_t* shape, const int64_t* input_strides,
                            const int64_t* output_strides, int64_t input_size, int64_t output_size, int axes, int kept,
                            int64_t input_offset, int64_t output_offset, int function, float start, void* stream) {
    CHECK(axes >= 0 && axes <= MOST_AXES && kept >= 0 && kept <= axes);
    CHECK(function >= 0 && function <= ASSAYER_REDUCE_MEAN);
    CHECK((axes == 0 || (shape && input_strides)) && (kept == 0 || output_strides));
    CHECK(strides_fit(input, input_size, axes, shape, input_strides, input_offset, false));
    CHECK(strides_fit(output, output_size, kept, shape, output_strides, output_offset, true));
    Reduction r;
    r.input = input;
    r.output = output;
    r.start = start;
    set_shape(&r.kept, kept, shape);
    set_operand(&r.kept, OUTPUT, output_strides, output_offset);
    set_operand(&r.kept, INPUT, input_strides, input_offset);
    set_shape(&r.numbers, axes - kept, shape + kept);
    set_operand(&r.numbers, NUMBERS, input_strides + kept, 0);
    r.elements = elements_of(&r.kept);
    if (r.elements == 0) return ASSAYER_OK;
    r.each = elements_of(&r.numbers);
    r.divisor = function == ASSAYER_REDUCE_MEAN ? static_cast<float>(r.each) : 1.0f;
    simplify(&r.kept, r.each == 0 ? 1 : 2); /* where an input without numbers lies nobody has looked at */
    if (r.each == 0) {
        reduce_nothing_kernel<<<blocks_for(r.elements, REDUCE_THREADS), REDUCE_THREADS, 0, stream_of(stream)>>>(r);
        return launched();
    }
    simplify(&r.numbers, 1);
    /* what turning an axis of the numbers about has moved, every element has moved by */
    r.kept.offsets[INPUT] += r.numbers.offsets[NUMBERS];
    r.numbers.offsets[NUMBERS] = 0;
    switch (function) {
    case ASSAYER_REDUCE_PRODUCT:
        return reduce_by(r, 1.0f, Times{}, stream_of(stream));
    case ASSAYER_REDUCE_MAXIMUM:
        return reduce_by(r, -INFINITY, Larger{}, stream_of(stream));
    case ASSAYER_REDUCE_MINIMUM:
        return reduce_by(r, INFINITY, Smaller{}, stream_of(stream));
    default:
        return reduce_by(r, 0.0f, Sum{}, stream_of(stream));
    }
}
