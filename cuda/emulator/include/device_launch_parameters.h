// The emulator keeps one header for all.
#pragma once
#include "cuda_runtime.h"
