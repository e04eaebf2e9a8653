// <cuda_runtime.h> of the emulator: CUDA on the CPU (see cuda/emulator/README.md).
#pragma once

#include <initializer_list>
#include <memory>

#include "emulator/language.h"
#include "emulator/vector_types.h"
#include "emulator/runtime_types.h"

// What follows stays in the library that it is compiled into; what that library's own sources define is theirs to export.
#pragma GCC visibility push(hidden)
#include "emulator/thread.h"
#include "emulator/barrier.h"
#include "emulator/warp.h"
#include "emulator/atomics.h"
#include "emulator/device_math.h"
#include "emulator/integer.h"
#include "emulator/shared_memory.h"
#include "emulator/matrix.h"
#include "emulator/async_copy.h"
#include "emulator/runtime_templates.h"
#include "emulator/launch.h"
#pragma GCC visibility pop
