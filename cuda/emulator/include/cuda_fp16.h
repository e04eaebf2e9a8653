// <cuda_fp16.h> of the emulator: __half and __half2, independent of CUDA's.
#pragma once

#include "cuda_runtime.h"
#include "emulator/small_float.h"
#include "emulator/small_float_names.h"

typedef emulator::SmallFloat<emulator::Binary16> __half;
typedef emulator::SmallFloat2<emulator::Binary16> __half2;
typedef __half half;
typedef __half2 half2;
EMULATOR_SMALL_FLOAT_NAMES(__half, __half2, half)
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __lowhigh2highlow(__half2 x) { return {x.y, x.x}; }
