/* What CUDA C++ cannot say, and what the emulator answers differently.  The CPU's form comes first. */
#ifndef ASSAYER_PTX_CUH
#define ASSAYER_PTX_CUH

#if defined(ASSAYER_EMULATED)
constexpr bool ARRAYS_ON_DEVICE = false; /* the emulated device computes on host memory */
#else
constexpr bool ARRAYS_ON_DEVICE = true;
#endif

#endif
