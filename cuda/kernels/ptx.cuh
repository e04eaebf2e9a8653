/* What CUDA C++ cannot say, and what the emulator answers differently.  The CPU's form comes first. */
#ifndef ASSAYER_PTX_CUH
#define ASSAYER_PTX_CUH

#if defined(ASSAYER_EMULATED)
#include <cstdlib>
constexpr bool EMULATED = true;
/* The emulated device computes on host memory, and may be told to say otherwise: so callers' copies are tested. */
inline bool arrays_on_device() { return std::getenv("ASSAYER_EMULATED_DEVICE_MEMORY") != nullptr; }
#else
constexpr bool EMULATED = false;
inline bool arrays_on_device() { return true; }
#endif

#endif
