#include "failures.h"

#include <atomic>
#include <cstdint>
#include <cstring>

#include "settings.h"

static std::atomic<bool> refuses_memory{false};

// Of whoever loads the library: from now on no device memory can be had, or again as much as there is.
extern "C" __attribute__((visibility("default"))) int32_t assayer_emulator_refuse_memory(int32_t refuse) {
    refuses_memory = refuse != 0;
    return 0;
}

namespace emulator {

bool memory_is_refused() { return refuses_memory; }

bool can_fail(const char* call) {
    const size_t length = std::strlen(call);
    const char* const all = EMULATOR_CALLS_THAT_CAN_FAIL;
    for (const char* at = std::strstr(all, call); at && length; at = std::strstr(at + 1, call)) {
        const bool begins = at == all || at[-1] == ' ', ends = at[length] == ',' || !at[length];
        if (begins && ends) return true;
    }
    return false;
}

cudaError_t planted_failure(const char* call) {
    static std::atomic<uint64_t> times{0};
    const Settings& all = settings();
    if (all.failing != call) return cudaSuccess;
    const uint64_t time = ++times;
    if (all.failing_time && time != all.failing_time) return cudaSuccess;
    return std::strncmp(call, "cudaMalloc", 10) == 0 ? cudaErrorMemoryAllocation : cudaErrorUnknown;
}

}  // namespace emulator
