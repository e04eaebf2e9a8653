// What a library that was compiled for the emulator says of itself to whoever loads it (assayer.h: assayer_capability): the
// library's own answers come first.
#include <cstdint>
#include <cstring>

#include "device.h"
#include "settings.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

// That there is such a symbol says it, also of a library whose own capabilities were written for a GPU.
EXPORTED int32_t assayer_emulated() { return 1; }

EXPORTED __attribute__((weak)) int32_t assayer_capability(const char* name, int64_t* value) {
    constexpr int32_t unavailable = -1, invalid = -2;
    if (!name || !value) return invalid;
    if (std::strcmp(name, "emulated") == 0 || std::strcmp(name, "devices") == 0) *value = 1;
    else if (std::strcmp(name, "compute_capability") == 0) *value = emulator::settings().capability;
    else return unavailable;
    return 0;
}
