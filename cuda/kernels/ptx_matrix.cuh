/* The instructions of matrix units, and the copies that feed them.  The CPU's form comes first. */
#ifndef ASSAYER_PTX_MATRIX_CUH
#define ASSAYER_PTX_MATRIX_CUH

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <type_traits>
#if defined(ASSAYER_EMULATED)
#include <mma.h>
#endif

/* Of which architecture the matrix units are that what is compiled for has.  The emulator knows it when it runs. */
#if defined(__CUDA_ARCH__)
constexpr int UNITS_OF = __CUDA_ARCH__ / 10;
#else
constexpr int UNITS_OF = 1000;
#endif

/* The first whose units multiply these numbers: products of 16 x 8 x 16 in both formats, and copies into shared memory
 * that nobody waits for, begin at sm_80; of float16 sm_75 has products of 16 x 8 x 8, and sm_70 of 8 x 8 x 4.
 * Elsewhere kernels of these are empty, and nobody launches them. */
template <typename Number> constexpr int FIRST_UNITS = std::is_same_v<Number, __half> ? 70 : 80;
template <typename Number> constexpr bool MATRIX_UNITS = UNITS_OF >= FIRST_UNITS<Number>;

/* d = a . b + d of a warp: a is 16 x 16, b 16 x 8, in the layout over lanes and registers that PTX documents.  Half of
 * the registers of a and b hold what is left of depth 8: what a product of 16 x 8 x 8 takes. */
#if defined(ASSAYER_EMULATED)
inline bool emulates_sm_80() { return emulator::architecture() >= 80; }
inline void multiply_fragments(__nv_bfloat16, float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    emulator::mma_m16n8k16<__nv_bfloat16>(d, a, b, d);
}
inline void multiply_fragments(__half, float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    if (emulates_sm_80()) return emulator::mma_m16n8k16<__half>(d, a, b, d);
    for (int half = 0; half < 2; half++) {
        const uint32_t rows[2] = {a[2 * half], a[2 * half + 1]}, columns[1] = {b[half]};
        emulator::mma_m16n8k8<__half>(d, rows, columns, d);
    }
}
#else
#define ASSAYER_MULTIPLY_FRAGMENTS(type, format)                                                                       \
    __device__ inline void multiply_fragments(type, float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {   \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." format "." format ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "     \
            "{%8, %9}, {%0, %1, %2, %3};"                                                                              \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                           \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                       \
    }
ASSAYER_MULTIPLY_FRAGMENTS(__nv_bfloat16, "bf16")
#if __CUDA_ARCH__ >= 800
ASSAYER_MULTIPLY_FRAGMENTS(__half, "f16")
#else
__device__ inline void multiply_fragments(__half, float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#pragma unroll
    for (int half = 0; half < 2; half++)
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
}
#endif
#undef ASSAYER_MULTIPLY_FRAGMENTS
#endif

/* d = a . b + d of four lanes and the four sixteen further, 8 x 8 x 4 of float16: sm_70.  A_ALONG, B_ALONG: a lane has
 * four depths of a line of the factor, not four lines of a depth. */
template <bool A_ALONG, bool B_ALONG>
__device__ inline void multiply_quads(float (&d)[8], const uint32_t (&a)[2], const uint32_t (&b)[2]) {
#if defined(ASSAYER_EMULATED)
    emulator::mma_m8n8k4<A_ALONG, !B_ALONG>(d, a, b, d);
#else
#define ASSAYER_MULTIPLY_QUADS(rows, columns)                                                                          \
    asm("mma.sync.aligned.m8n8k4." rows "." columns ".f32.f16.f16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, "    \
        "{%10, %11}, {%0, %1, %2, %3, %4, %5, %6, %7};"                                                                \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])               \
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]))
    if constexpr (A_ALONG && B_ALONG) ASSAYER_MULTIPLY_QUADS("row", "col");
    else if constexpr (A_ALONG) ASSAYER_MULTIPLY_QUADS("row", "row");
    else if constexpr (B_ALONG) ASSAYER_MULTIPLY_QUADS("col", "col");
    else ASSAYER_MULTIPLY_QUADS("col", "row");
#undef ASSAYER_MULTIPLY_QUADS
#endif
}

/* Four matrices of 8 x 8 from shared memory, or what they are transposed: lane 8 i + j says where row j of matrix i
 * lies, 16 bytes. */
template <bool TRANSPOSED> __device__ inline void load_fragments(uint32_t (&to)[4], const uint16_t* row) {
#if defined(ASSAYER_EMULATED)
    emulator::ldmatrix<4, TRANSPOSED>(to, row);
#else
    const auto from = static_cast<uint32_t>(__cvta_generic_to_shared(row));
    if constexpr (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
#endif
}

/* Sixteen bytes into shared memory while the thread goes on; zeros, and nothing read, unless `there`.  Before sm_80 the
 * thread brings them itself. */
__device__ inline void copy_itself(uint16_t* to, const uint16_t* from, bool there) {
    *reinterpret_cast<float4*>(to) =
        there ? *reinterpret_cast<const float4*>(from) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

__device__ inline void copy_whole(uint16_t* to, const uint16_t* from, bool there) {
#if defined(ASSAYER_EMULATED)
    if (emulates_sm_80()) emulator::cp_async<16>(to, from, there ? 16 : 0);
    else copy_itself(to, from, there);
#elif __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))),
        "l"(from), "r"(there ? 16 : 0)
        : "memory");
#else
    copy_itself(to, from, there);
#endif
}

/* Ends a group of copies. */
__device__ inline void end_copies() {
#if defined(ASSAYER_EMULATED)
    if (emulates_sm_80()) emulator::cp_async_commit_group();
#elif __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until of this thread's groups no more than PENDING are under way. */
template <int PENDING> __device__ inline void wait_for_copies() {
#if defined(ASSAYER_EMULATED)
    if (emulates_sm_80()) emulator::cp_async_wait_group<PENDING>();
#elif __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

#endif
