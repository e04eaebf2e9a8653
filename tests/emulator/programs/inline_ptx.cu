// Inline PTX in kernels, which the rewriter turns into calls of the emulator.
#include "harness.h"

#include <cuda_fp16.h>

#include <cstdint>

constexpr int M = 16, N = 8, K = 16;

__device__ uint32_t shared_address(const void* at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

// C = A B, A and B from global into shared memory by cp.async, fragments by ldmatrix, results by vectors of two.
__global__ void product_kernel(const __half* a, const __half* b, float* c) {
    __shared__ __align__(16) __half tile_a[M][K], tile_b[K][N];
    const unsigned lane = threadIdx.x;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(shared_address(&tile_a[0][0] + 8 * lane)), "l"(a + 8 * lane));
    asm volatile(
        "{\n"
        "  .reg .pred p;\n"
        "  setp.lt.u32 p, %0, %3;  // one row of B a lane\n"
        "  @p cp.async.ca.shared::cta.global.L2::128B [%1], [%2], 16;\n"
        "}\n" ::"r"(lane), "r"(shared_address(&tile_b[lane % K][0])), "l"(b + lane % K * N), "n"(K) : "memory");
    asm volatile("cp.async.commit_group;\n" ::);
    asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
    __syncwarp();
    uint32_t of_a[4], of_b[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(of_a[0]), "=r"(of_a[1]), "=r"(of_a[2]), "=r"(of_a[3])
                 : "r"(shared_address(&tile_a[lane % 16][lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(of_b[0]), "=r"(of_b[1]) : "r"(shared_address(&tile_b[lane % 16][0])));
    float d[4] = {1, 1, 1, 1};
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(of_a[0]), "r"(of_a[1]), "r"(of_a[2]), "r"(of_a[3]), "r"(of_b[0]), "r"(of_b[1]));
    float* const at = c + lane / 4 * N + lane % 4 * 2;
    uint64_t global;
    asm("cvta.to.global.u64 %0, %1;" : "=l"(global) : "l"(at));
    asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(global), "f"(d[0]), "f"(d[1]) : "memory");
    asm volatile("st.global.cs.v2.f32 [%0+256], {%1, %2};" ::"l"(global), "f"(d[2]), "f"(d[3]) : "memory");
}
PROGRAM(product_by_inline_ptx) {
    std::vector<__half> a, b;
    for (int i = 0; i < M * K; i++) a.push_back(__half(static_cast<float>(i * 5 % 13 - 6)));
    for (int i = 0; i < K * N; i++) b.push_back(__half(static_cast<float>(i * 7 % 13 - 6)));
    Array<__half> on_a(a), on_b(b);
    Array<float> c(M * N);
    product_kernel<<<1, 32>>>(on_a, on_b, c);
    const auto values = c.values();
    for (int row = 0; row < M; row++) {
        for (int col = 0; col < N; col++) {
            float sum = 1;
            for (int i = 0; i < K; i++) sum += float(a[row * K + i]) * float(b[i * N + col]);
            if (values[row * N + col] != sum) return false;
        }
    }
    return true;
}

// Two warps meet at barrier 1, one of them without waiting; loads and stores by number of bytes.
__global__ void meet_kernel(const float4* from, float* to, unsigned short* low) {
    __shared__ float4 kept[32];
    const unsigned lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        float4 v;
        asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(from + lane));
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(&kept[lane])), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
        asm volatile("bar.arrive 1, %0;" ::"n"(64) : "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        to[lane] = kept[31 - lane].w;
        asm volatile("st.global.u16 [%0], %1;" ::"l"(low + lane), "h"(static_cast<unsigned short>(lane * 257)) : "memory");
    }
}
PROGRAM(barriers_and_vectors_by_inline_ptx) {
    Array<float> from(counting<float>(128)), to(32);
    Array<unsigned short> low(32);
    meet_kernel<<<1, 64>>>(reinterpret_cast<const float4*>(static_cast<float*>(from)), to, low);
    const auto values = to.values();
    const auto shorts = low.values();
    for (int i = 0; i < 32; i++) {
        if (values[i] != static_cast<float>((31 - i) * 4 + 3) || shorts[i] != i * 257) return false;
    }
    return true;
}
