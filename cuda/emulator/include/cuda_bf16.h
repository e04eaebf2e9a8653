// <cuda_bf16.h> of the emulator: __nv_bfloat16 and __nv_bfloat162, independent of CUDA's.
#pragma once

#include "cuda_runtime.h"
#include "emulator/small_float.h"
#include "emulator/small_float_names.h"

typedef emulator::SmallFloat<emulator::Brain16> __nv_bfloat16;
typedef emulator::SmallFloat2<emulator::Brain16> __nv_bfloat162;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
EMULATOR_SMALL_FLOAT_NAMES(__nv_bfloat16, __nv_bfloat162, bfloat16)
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
