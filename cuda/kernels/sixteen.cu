/* Attention in 16 bits where no matrix units take it: sixteen.h between two conversions, for each format.  Every other
 * operation reads and stores 16 bits itself, in the file of its float32 form (products: gemm_halves.cu). */
#include "attention_halves.cuh"
#include "cast.cuh"
#include "scratch.cuh"

namespace {

/* An array of the caller's in 16 bits, and in float32 meanwhile. */
struct staged {
    const half_bits* from; /* null: not read */
    half_bits* to;         /* null: not written */
    int64_t count;         /* of elements; 0: no size that could be, or no array */
    float* wide;
};

staged read_from(const half_bits* array, int64_t count) { return {array, nullptr, array ? count : 0, nullptr}; }
staged written_to(half_bits* array, int64_t count) { return {nullptr, array, array ? count : 0, nullptr}; }

/* The elements of an array of these sizes, 0 where they do not fit. */
template <typename... Sizes> int64_t ELEMENTS(Sizes... sizes) {
    return sizes_fit(sizeof(float), sizes...) ? (int64_t{1} * ... * int64_t{sizes}) : 0;
}

constexpr int64_t LINE = 64; /* floats: where the next array begins */

template <int COUNT> int64_t floats_of(const staged (&all)[COUNT]) {
    int64_t floats = 0;
    for (const staged& one : all) {
        if (one.count < 1) return 0;
        floats += ceil_div(one.count, LINE) * LINE;
    }
    return floats;
}

template <typename Format, int COUNT> int32_t stage(Format format, staged (&all)[COUNT], float* next, void* stream) {
    for (staged& one : all) {
        one.wide = next;
        next += ceil_div(one.count, LINE) * LINE;
        if (one.from) TRY(widen(format, one.from, one.wide, one.count, stream));
    }
    return ASSAYER_OK;
}

template <typename Format, int COUNT> int32_t unstage(Format format, const staged (&all)[COUNT], void* stream) {
    for (const staged& one : all)
        if (one.to) TRY(narrow(format, one.wide, one.to, one.count, stream));
    return ASSAYER_OK;
}

} // namespace

#define STAGED(all, call)                                                                                              \
    const int64_t floats = floats_of(all);                                                                             \
    CHECK(floats > 0);                                                                                                 \
    const Scratch scratch(floats* int64_t{sizeof(float)}, stream_of(stream));                                          \
    TRY(scratch.code());                                                                                               \
    TRY(stage(FORMAT, all, scratch.as<float>(), stream));                                                              \
    TRY(call);                                                                                                         \
    return unstage(FORMAT, all, stream);

#define HALVES_MULTIPLIED 1
#define FORMAT            Bf16()
#define HALF(name)        name##_bf16
#include "../src/sixteen.h"
#undef FORMAT
#undef HALF
#define FORMAT     Fp16()
#define HALF(name) name##_fp16
#include "../src/sixteen.h"
