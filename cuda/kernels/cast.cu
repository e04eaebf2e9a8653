/* Arrays from 16 bits to float32 and back, each number rounded to nearest even. */
#include "cast.cuh"

#include "map.cuh"

namespace {

struct Same {
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0]; }
};

} // namespace

template <typename Format> int32_t widen(Format, const half_bits* input, float* output, int64_t n, void* stream) {
    return map(Arrays<1, 1, Format, float>{{numbers_of<Format>(input)}, {output}}, n, Same{}, stream);
}

template <typename Format> int32_t narrow(Format, const float* input, half_bits* output, int64_t n, void* stream) {
    return map(Arrays<1, 1, float, Format>{{input}, {numbers_of<Format>(output)}}, n, Same{}, stream);
}

#define CAST(Format, suffix)                                                                                           \
    template int32_t widen(Format, const half_bits*, float*, int64_t, void*);                                          \
    template int32_t narrow(Format, const float*, half_bits*, int64_t, void*);                                         \
    int32_t cuda_cast_from_##suffix(const half_bits* input, float* output, int64_t n, void* stream) {                  \
        CHECK_ARRAY(input, n);                                                                                         \
        CHECK_ARRAY(output, n);                                                                                        \
        return widen(Format(), input, output, n, stream);                                                              \
    }                                                                                                                  \
    int32_t cuda_cast_to_##suffix(const float* input, half_bits* output, int64_t n, void* stream) {                    \
        CHECK_ARRAY(input, n);                                                                                         \
        CHECK_ARRAY(output, n);                                                                                        \
        return narrow(Format(), input, output, n, stream);                                                             \
    }
CAST(Bf16, bf16)
CAST(Fp16, fp16)
