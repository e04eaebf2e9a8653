// What sm_90 has and sm_80 has not: stmatrix, and products of fp8.
#include "harness.h"

#include <cstdint>

__device__ uint32_t shared_at(const void* at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

// Registers into rows and back, turned over on the way out.
__global__ void rows_kernel(const uint32_t* from, uint32_t* to) {
    __shared__ __align__(16) uint16_t tile[32][8];
    const unsigned lane = threadIdx.x;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_at(tile[lane])), "r"(from[lane]), "r"(from[lane + 32]),
                 "r"(from[lane + 64]), "r"(from[lane + 96]) : "memory");
    __syncwarp();
    uint32_t r[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_at(tile[lane])));
    __syncwarp();
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_at(tile[lane])), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
    __syncwarp();
    for (unsigned i = 0; i < 4; i++) to[i * 32 + lane] = tile[8 * i + lane / 4][lane % 4 * 2] | static_cast<uint32_t>(tile[8 * i + lane / 4][lane % 4 * 2 + 1]) << 16;
}
PROGRAM(rows_by_stmatrix) {
    const auto given = counting<uint32_t>(128);
    Array<uint32_t> from(given), to(128);
    rows_kernel<<<1, 32>>>(from, to);
    return to.values() == given;
}

// A of ones in e4m3 (0x38), B of the numbers 1 to 8 by column in e5m2: each column sums up 32 times its number, and 1.
__global__ void fp8_kernel(float* c) {
    const unsigned lane = threadIdx.x, ones = 0x38383838u;
    const unsigned short codes[8] = {0x3c, 0x40, 0x42, 0x44, 0x45, 0x46, 0x47, 0x48};  // 1 to 8 in e5m2
    const uint32_t b = codes[lane / 4] * 0x01010101u;
    float d[4];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%6,%6,%6,%6};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(ones), "r"(b), "f"(1.0f));
    for (unsigned i = 0; i < 4; i++) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}
PROGRAM(products_of_fp8) {
    Array<float> c(128);
    fp8_kernel<<<1, 32>>>(c);
    const auto values = c.values();
    for (int i = 0; i < 128; i++) {
        if (values[i] != 32.0f * static_cast<float>(i % 8 + 1) + 1) return false;
    }
    return true;
}
