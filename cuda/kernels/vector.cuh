/* Sixteen bytes at a time: what one thread moves in one access. */
#ifndef ASSAYER_VECTOR_CUH
#define ASSAYER_VECTOR_CUH

#include "half.cuh"
#include "ptx.cuh"

#include <cstdint>
#include <type_traits>

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

/* Sixteen bytes an access, where they are whole sixteens; any other number of elements one by one. */
template <int WIDTH, typename T> __device__ Pack<WIDTH, T> load_pack(const T* from) {
    Pack<WIDTH, T> pack;
    if constexpr (WIDTH % WHOLE<T> == 0) {
#pragma unroll
        for (int i = 0; i < WIDTH; i += WHOLE<T>) {
            const float4 whole = *reinterpret_cast<const float4*>(from + i);
            memcpy(&pack.at[i], &whole, sizeof whole);
        }
    } else {
#pragma unroll
        for (int i = 0; i < WIDTH; i++) pack.at[i] = from[i];
    }
    return pack;
}

template <int WIDTH, typename T> __device__ void store_pack(T* to, const Pack<WIDTH, T>& pack) {
    if constexpr (WIDTH % WHOLE<T> == 0) {
#pragma unroll
        for (int i = 0; i < WIDTH; i += WHOLE<T>) {
            float4 whole;
            memcpy(&whole, &pack.at[i], sizeof whole);
            store_whole(reinterpret_cast<float4*>(to + i), whole);
        }
    } else {
#pragma unroll
        for (int i = 0; i < WIDTH; i++) to[i] = pack.at[i];
    }
}

/* Numbers as they are computed with, from and to arrays of float32 or of a 16-bit format. */
template <int WIDTH, typename T> __device__ Pack<WIDTH> load_numbers(const T* from) {
    const Pack<WIDTH, T> stored = load_pack<WIDTH>(from);
    Pack<WIDTH> pack;
#pragma unroll
    for (int i = 0; i < WIDTH; i++) pack.at[i] = widened(stored.at[i]);
    return pack;
}

template <int WIDTH, typename T> __device__ void store_numbers(T* to, const Pack<WIDTH>& pack) {
    Pack<WIDTH, T> stored;
#pragma unroll
    for (int i = 0; i < WIDTH; i++) stored.at[i] = rounded<T>(pack.at[i]);
    store_pack<WIDTH>(to, stored);
}

template <int WIDTH, typename T> __device__ Pack<WIDTH, T> filled(T value) {
    Pack<WIDTH, T> pack;
    for (T& x : pack.at) x = value;
    return pack;
}

/* How many elements an address lies past a multiple of 16 bytes. */
template <typename T> __host__ __device__ int phase_of(const T* pointer) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(pointer) / sizeof(T) % WHOLE<T>);
}

/* True where every row of these arrays, cols wide, is a whole number of quads (of sixteen bytes, if not of floats). */
template <typename... Pointers> bool rows_of_quads(int64_t cols, Pointers... arrays) {
    return ((cols % WHOLE<std::remove_pointer_t<Pointers>> == 0 && phase_of(arrays) == 0) && ...);
}

#endif
