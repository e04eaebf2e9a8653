// 16-bit numbers, vector types and intrinsics.  What is expected is worked out another way: from the definition of rounding.
#include "harness.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <climits>
#include <cmath>

// Every number of a format, and what lies between two of them: the nearer one, and halfway the one with an even last bit.
template <class T>
__global__ void neighbours_kernel(int* wrong, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    T low, high;
    const unsigned short bits[2] = {static_cast<unsigned short>(i), static_cast<unsigned short>(i + 1)};
    memcpy(&low, &bits[0], 2);
    memcpy(&high, &bits[1], 2);
    const double x = static_cast<float>(low), y = static_cast<float>(high), middle = (x + y) / 2, step = (y - x) / 8;
    const T even = i % 2 ? high : low;
    const T rounded[] = {T(static_cast<float>(x)), T(static_cast<float>(middle - step)), T(static_cast<float>(middle)), T(middle),
                         T(middle + middle * 1e-12), T(middle - middle * 1e-12), T(static_cast<float>(-middle))};
    const T expected[] = {low, low, even, even, high, low, -even};
    for (int k = 0; k < 7; k++) {
        if (static_cast<float>(rounded[k]) != static_cast<float>(expected[k])) atomicAdd(wrong, 1);
    }
}
PROGRAM(rounding_to_half) {
    Array<int> wrong(1);
    neighbours_kernel<__half><<<124, 256>>>(wrong, 0x7bff);  // up to the largest
    return wrong.value() == 0;
}
PROGRAM(rounding_to_bfloat16) {
    Array<int> wrong(1);
    neighbours_kernel<__nv_bfloat16><<<128, 256>>>(wrong, 0x7f7f);
    return wrong.value() == 0;
}

__global__ void special_kernel(int* right) {
    const float infinity = __int_as_float(0x7f800000), nan = __int_as_float(0x7fc00000);
    bool all = __half_as_ushort(__float2half(65519.0f)) == 0x7bff && __half_as_ushort(__float2half(65520.0f)) == 0x7c00;
    all = all && __half_as_ushort(__float2half(-infinity)) == 0xfc00 && __half_as_ushort(__float2half(nan)) == 0x7fff;
    all = all && __half_as_ushort(__float2half(-0.0f)) == 0x8000 && __half_as_ushort(__float2half(2.9802322e-8f)) == 0;
    all = all && __half_as_ushort(__float2half(2.9802326e-8f)) == 1;  // just above half of the smallest
    all = all && __bfloat16_as_ushort(__float2bfloat16(3.4e38f)) == 0x7f80 && __bfloat16_as_ushort(__float2bfloat16(nan)) == 0x7fff;
    all = all && __hisnan(__float2half(nan)) && __hisinf(__float2half(-infinity)) == -1 && !__hisnan(__float2half(infinity));
    // 1 + 2^-11 + a little: rounded once it is 1 + 2^-10, rounded twice 1.
    all = all && __half_as_ushort(__double2half(1.0 + 0x1p-11 + 0x1p-40)) == 0x3c01;
    const __half near_one = __ushort_as_half(0x3c01);  // 1 + 2^-10; its square is 1 + 2^-9 + 2^-20
    all = all && __half2float(__hfma(near_one, near_one, __float2half(-1.0f - 0x1p-9f))) == 0x1p-20f;
    all = all && __half2float(near_one * near_one) == 1.0f + 0x1p-9f;
    // 1.5 (1 + 2^-7) lies halfway between two bfloat16 numbers: the addend decides, though double cannot hold both.
    const __nv_bfloat16 large = __float2bfloat16(0x1.02p100f), factor = __float2bfloat16(1.5f), tiny = __float2bfloat16(0x1p-100f);
    all = all && __bfloat162float(__hfma(large, factor, tiny)) == 0x1.84p100f && __bfloat162float(__hfma(large, factor, -tiny)) == 0x1.82p100f;
    const __half2 pair = __floats2half2_rn(1.0f, 2.0f), doubled = __hfma2(pair, pair, pair);
    all = all && __low2float(doubled) == 2.0f && __high2float(doubled) == 6.0f && __half22float2(__lowhigh2highlow(pair)).x == 2.0f;
    *right = all;
}
PROGRAM(special_small_floats) {
    Array<int> right(1);
    special_kernel<<<1, 1>>>(right);
    return right.value() == 1;
}

__global__ void half_atomics_kernel(__half* total, float* sum, unsigned* turns) {
    atomicAdd(total, __float2half(1.0f));
    atomicAdd(sum, 1);
    atomicInc(turns, 6);
    atomicMax(turns + 1, threadIdx.x);
    atomicXor(turns + 2, 1u << threadIdx.x % 32);
    atomicSub(turns + 3, 1u);
}
PROGRAM(atomics_of_other_types) {
    Array<__half> total(1, __float2half(0.0f));
    Array<float> sum(1);
    Array<unsigned> turns(4);
    half_atomics_kernel<<<2, 96>>>(total, sum, turns);
    const auto result = turns.values();
    return __half2float(total.value()) == 192 && sum.value() == 192 && result[0] == 192 % 7 && result[1] == 95 && result[2] == 0 &&
           result[3] == 0u - 192;
}

static_assert(sizeof(float3) == 12 && alignof(float3) == 4 && alignof(float4) == 16 && alignof(double2) == 16, "as in CUDA");
static_assert(alignof(uchar4) == 4 && alignof(short2) == 4 && alignof(int2) == 8 && alignof(longlong2) == 16 && sizeof(dim3) == 12, "as in CUDA");

__global__ void intrinsics_kernel(int* right) {
    const float nan = __int_as_float(0x7fc00000);
    bool all = __clz(1) == 31 && __clz(0) == 32 && __popc(0xf0f0) == 8 && __ffs(8) == 4 && __ffs(0) == 0 && __brev(1) == 0x80000000u;
    all = all && __umulhi(0x80000000u, 6) == 3 && __mulhi(-(1 << 30), 8) == -2 && __byte_perm(0x33221100, 0x77665544, 0x7250) == 0x77225500;
    all = all && __funnelshift_l(0x80000000u, 1, 1) == 3 && __funnelshift_r(1, 0x3, 1) == 0x80000000u && __dp4a(0x01fe0304, 0x01010101, 1) == 1 + 1 - 2 + 3 + 4;
    all = all && max(nan, 1.0f) == 1.0f && min(2, 3) == 2 && max(2u, 3u) == 3u && fmaxf(nan, 2.0f) == 2.0f;
    all = all && __float2int_rn(2.5f) == 2 && __float2int_rn(3.5f) == 4 && __float2int_rz(-2.9f) == -2 && __float2int_rd(-2.1f) == -3;
    all = all && __float2int_rz(1e20f) == INT_MAX && __float2int_rz(nan) == 0 && __float2uint_rz(-5.0f) == 0;
    all = all && __saturatef(nan) == 0 && __saturatef(2.0f) == 1 && fabsf(rsqrtf(4.0f) - 0.5f) < 1e-6f;
    all = all && __fadd_rn(__fmul_rn(1.0f + 0x1p-12f, 1.0f + 0x1p-12f), -1.0f - 0x1p-11f) == 0;  // not fused: the last digit is lost
    all = all && __fmaf_rn(1.0f + 0x1p-12f, 1.0f + 0x1p-12f, -1.0f - 0x1p-11f) == 0x1p-24f;
    *right = all;
}
PROGRAM(intrinsics) {
    Array<int> right(1);
    intrinsics_kernel<<<1, 1>>>(right);
    return right.value() == 1;
}
