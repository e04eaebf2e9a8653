/* Sixteen bytes at a time: what one thread moves in one access. */
#ifndef ASSAYER_VECTOR_CUH
#define ASSAYER_VECTOR_CUH

#include <cstdint>
#include <cuda_runtime.h>

template <int WIDTH> struct Pack {
    float at[WIDTH];
};
using Quad = Pack<4>;

__device__ inline Quad load_quad(const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    return {{four.x, four.y, four.z, four.w}};
}

__device__ inline void store_quad(float* to, const Quad& quad) {
    *reinterpret_cast<float4*>(to) = make_float4(quad.at[0], quad.at[1], quad.at[2], quad.at[3]);
}

/* Four floats in one access; any other number one by one. */
template <int WIDTH> __device__ Pack<WIDTH> load_pack(const float* from) {
    if constexpr (WIDTH == 4) {
        return load_quad(from);
    } else {
        Pack<WIDTH> pack;
#pragma unroll
        for (int i = 0; i < WIDTH; i++) pack.at[i] = from[i];
        return pack;
    }
}

template <int WIDTH> __device__ void store_pack(float* to, const Pack<WIDTH>& pack) {
    if constexpr (WIDTH == 4) {
        store_quad(to, pack);
    } else {
#pragma unroll
        for (int i = 0; i < WIDTH; i++) to[i] = pack.at[i];
    }
}

/* How many floats an address lies past a multiple of 16 bytes. */
__host__ __device__ inline int phase_of(const float* pointer) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(pointer) / sizeof(float) % 4);
}

/* True where every row of these arrays, cols wide, is a whole number of quads. */
template <typename... Pointers> bool rows_of_quads(int64_t cols, Pointers... arrays) {
    const int phases[] = {phase_of(arrays)...};
    bool aligned = cols % 4 == 0;
    for (const int phase : phases) aligned = aligned && phase == 0;
    return aligned;
}

#endif
