// By how much mathematical functions err, where the environment asks for it.
#pragma once

#include <cstdint>

namespace emulator {

bool functions_err();

// The correctly rounded result, moved by so many units in the last place, up or down by a draw from the function and its
// arguments: the same call errs the same way, as on a device.
float with_error(double exact, unsigned units, uint32_t function, float x, float y = 0);

}  // namespace emulator
