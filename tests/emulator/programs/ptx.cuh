// The matrix instructions of tensor cores: the CPU's form first, then PTX.
#pragma once

#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>

__device__ inline void multiply(__half, float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4]) {
#if defined(ASSAYER_EMULATED)
    emulator::mma_m16n8k16<__half>(d, a, b, c);
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#endif
}
__device__ inline void multiply(__nv_bfloat16, float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4]) {
#if defined(ASSAYER_EMULATED)
    emulator::mma_m16n8k16<__nv_bfloat16>(d, a, b, c);
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#endif
}
__device__ inline void multiply_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4]) {
#if defined(ASSAYER_EMULATED)
    emulator::mma_m16n8k8_tf32(d, a, b, c);
#else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#endif
}
__device__ inline void load_4(uint32_t (&registers)[4], const void* row) {
#if defined(ASSAYER_EMULATED)
    emulator::ldmatrix<4>(registers, row);
#else
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3]) : "r"(address) : "memory");
#endif
}
__device__ inline void load_2_transposed(uint32_t (&registers)[2], const void* row) {
#if defined(ASSAYER_EMULATED)
    emulator::ldmatrix<2, true>(registers, row);
#else
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(registers[0]), "=r"(registers[1]) : "r"(address) : "memory");
#endif
}
__device__ inline void copy_16(void* to, const void* from, unsigned from_source = 16) {
#if defined(ASSAYER_EMULATED)
    emulator::cp_async<16>(to, from, from_source);
#else
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(from_source) : "memory");
#endif
}
__device__ inline void commit_copies() {
#if defined(ASSAYER_EMULATED)
    emulator::cp_async_commit_group();
#else
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int pending>
__device__ inline void wait_for_copies() {
#if defined(ASSAYER_EMULATED)
    emulator::cp_async_wait_group<pending>();
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}
#if defined(ASSAYER_EMULATED)
#define barrier_sync emulator::bar_sync  // macros: what is said of a wait names the caller's line
#define barrier_arrive emulator::bar_arrive
#else
__device__ inline void barrier_sync(unsigned id, unsigned count) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory"); }
__device__ inline void barrier_arrive(unsigned id, unsigned count) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(count) : "memory"); }
#endif
