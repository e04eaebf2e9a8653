/* Sixteen bytes at a time: what one thread moves in one access. */
#ifndef ASSAYER_VECTOR_CUH
#define ASSAYER_VECTOR_CUH

#include "ptx.cuh"

#include <cstdint>

template <int WIDTH, typename T = float> struct Pack {
    T at[WIDTH];
};
using Quad = Pack<4>;

__device__ inline Quad load_quad(const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    return {{four.x, four.y, four.z, four.w}};
}

__device__ inline float4 four_of(const Quad& quad) {
    return make_float4(quad.at[0], quad.at[1], quad.at[2], quad.at[3]);
}

__device__ inline void store_quad(float* to, const Quad& quad) {
    store_whole(reinterpret_cast<float4*>(to), four_of(quad));
}

/* In shared memory. */
__device__ inline void store_shared_quad(float* to, const Quad& quad) {
    *reinterpret_cast<float4*>(to) = four_of(quad);
}

/* How many elements sixteen bytes hold. */
template <typename T> constexpr int WHOLE = 16 / sizeof(T);

/* Sixteen bytes in one access; any other number of elements one by one. */
template <int WIDTH, typename T> __device__ Pack<WIDTH, T> load_pack(const T* from) {
    Pack<WIDTH, T> pack;
    if constexpr (WIDTH == WHOLE<T>) {
        const float4 whole = *reinterpret_cast<const float4*>(from);
        memcpy(&pack, &whole, sizeof pack);
    } else {
#pragma unroll
        for (int i = 0; i < WIDTH; i++) pack.at[i] = from[i];
    }
    return pack;
}

template <int WIDTH, typename T> __device__ void store_pack(T* to, const Pack<WIDTH, T>& pack) {
    if constexpr (WIDTH == WHOLE<T>) {
        float4 whole;
        memcpy(&whole, &pack, sizeof whole);
        store_whole(reinterpret_cast<float4*>(to), whole);
    } else {
#pragma unroll
        for (int i = 0; i < WIDTH; i++) to[i] = pack.at[i];
    }
}

/* How many elements an address lies past a multiple of 16 bytes. */
template <typename T> __host__ __device__ int phase_of(const T* pointer) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(pointer) / sizeof(T) % WHOLE<T>);
}

/* True where every row of these arrays, cols wide, is a whole number of quads (of sixteen bytes, if not of floats). */
template <typename T, typename... Pointers> bool rows_of_quads(int64_t cols, const T* array, Pointers... arrays) {
    const int phases[] = {phase_of(array), phase_of(arrays)...};
    bool aligned = cols % WHOLE<T> == 0;
    for (const int phase : phases) aligned = aligned && phase == 0;
    return aligned;
}

#endif
