// CUDA's vector types (float4 and the like) with their sizes and alignments, and dim3.
#pragma once

#include "language.h"

#define EMULATOR_VECTOR_TYPES(name, element, align_of_2, align_of_4)                                      \
    struct name##1 { element x; };                                                                        \
    struct alignas(align_of_2) name##2 { element x, y; };                                                 \
    struct name##3 { element x, y, z; };                                                                  \
    struct alignas(align_of_4) name##4 { element x, y, z, w; };                                           \
    inline constexpr name##1 make_##name##1(element x) { return {x}; }                                    \
    inline constexpr name##2 make_##name##2(element x, element y) { return {x, y}; }                      \
    inline constexpr name##3 make_##name##3(element x, element y, element z) { return {x, y, z}; }        \
    inline constexpr name##4 make_##name##4(element x, element y, element z, element w) { return {x, y, z, w}; }

EMULATOR_VECTOR_TYPES(char, signed char, 2, 4)
EMULATOR_VECTOR_TYPES(uchar, unsigned char, 2, 4)
EMULATOR_VECTOR_TYPES(short, short, 4, 8)
EMULATOR_VECTOR_TYPES(ushort, unsigned short, 4, 8)
EMULATOR_VECTOR_TYPES(int, int, 8, 16)
EMULATOR_VECTOR_TYPES(uint, unsigned int, 8, 16)
EMULATOR_VECTOR_TYPES(long, long, 16, 16)
EMULATOR_VECTOR_TYPES(ulong, unsigned long, 16, 16)
EMULATOR_VECTOR_TYPES(longlong, long long, 16, 16)
EMULATOR_VECTOR_TYPES(ulonglong, unsigned long long, 16, 16)
EMULATOR_VECTOR_TYPES(float, float, 8, 16)
EMULATOR_VECTOR_TYPES(double, double, 16, 16)
#undef EMULATOR_VECTOR_TYPES

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
