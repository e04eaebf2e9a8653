// What the environment says about how kernels run.
#pragma once

#include <string>

#include "run_queue.h"

namespace emulator {

struct Settings {
    Order order = Order::forward;   // ASSAYER_EMULATOR_SCHEDULE=forward|reverse|random
    uint64_t seed = 1;              // ASSAYER_EMULATOR_SEED
    unsigned threads = 0;           // ASSAYER_EMULATOR_THREADS: system threads; where it is not set, OMP_NUM_THREADS, or all processors
    bool fill = true;               // ASSAYER_EMULATOR_FILL=0: shared and allocated memory keeps what was there
    uint64_t launches = 0;          // ASSAYER_EMULATOR_LAUNCHES=1: every launch is said on stderr; 2: and not made
    uint64_t math_errors = 0;       // ASSAYER_EMULATOR_MATH_ERRORS: the seed by which mathematical functions err; 0: they do not
    unsigned capability = 80;       // ASSAYER_EMULATOR_ARCH=sm_80: whose limits hold
    unsigned multiprocessors = 0;   // ASSAYER_EMULATOR_MULTIPROCESSORS; 0: as many as a device of the architecture has
    std::string failing;            // ASSAYER_EMULATOR_FAIL=cudaMalloc or cudaMalloc:2: a call that fails, and which time (0: each)
    uint64_t failing_time = 0;
    bool default_stream_is_late = false;  // ASSAYER_EMULATOR_DEFAULT_STREAM=late: its work is done when something waits for it
};

// Read once.  A value that means nothing ends the process with a message: a run under other settings than those asked for
// would be worth nothing.
const Settings& settings();

}  // namespace emulator
