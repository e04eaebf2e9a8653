/* What CUDA C++ cannot say, and what the emulator answers differently.  The CPU's form comes first. */
#ifndef ASSAYER_PTX_CUH
#define ASSAYER_PTX_CUH

#include <cuda_runtime.h>

#if defined(ASSAYER_EMULATED)
#include <cstdlib>
constexpr bool EMULATED = true;
/* The emulated device computes on host memory, and may be told to say otherwise: so callers' copies are tested. */
inline bool arrays_on_device() { return std::getenv("ASSAYER_EMULATED_DEVICE_MEMORY") != nullptr; }

/* Sixteen bytes into global memory, in one access.  What C++ assigns whole nvcc may store in parts: up to sm_90 it made
 * four stores of many an assignment of a float4. */
__device__ inline void store_whole(float4* to, const float4& x) { *to = x; }
#else
constexpr bool EMULATED = false;
inline bool arrays_on_device() { return true; }

__device__ inline void store_whole(float4* to, const float4& x) {
#if __CUDA_ARCH__ >= 1000
    *to = x;
#else
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w)
                 : "memory");
#endif
}
#endif

#endif
