// The limits of the device that is emulated.
#pragma once

#include <cstddef>

namespace emulator {

#define EMULATOR_ARCHITECTURES "sm_70, sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120"

struct Limits {
    unsigned capability;                                    // 80 for sm_80
    size_t shared_opt_in;                                   // dynamic shared memory a kernel may ask for, bytes
    size_t shared_per_multiprocessor;                       // bytes
    int threads_per_multiprocessor, blocks_per_multiprocessor;
    int multiprocessors;                                    // of one such device
};

// Null where the architecture is not known.
const Limits* limits_of(unsigned capability);
const Limits& limits();  // of the device that the settings name
int multiprocessors();   // of it; how many processors the host has is another matter

constexpr size_t shared_without_opt_in = 48 << 10;
constexpr unsigned threads_per_block = 1024;

}  // namespace emulator
