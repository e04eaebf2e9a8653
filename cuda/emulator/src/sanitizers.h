// What the sanitisers have to be told.  Kernels are compiled with a sanitiser, the runtime never is: what it does with its
// own memory is not the kernel's doing.  EMULATOR_MODE says which sanitiser the kernels have.
#pragma once

#include <cstddef>

#define EMULATOR_MODE_FAST 0
#define EMULATOR_MODE_ADDRESS 1
#define EMULATOR_MODE_THREAD 2
#ifndef EMULATOR_MODE
#error "the build defines EMULATOR_MODE (see emulator.cmake)"
#endif

#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if EMULATOR_MODE == EMULATOR_MODE_THREAD
extern "C" {  // sanitizer/tsan_interface.h of newer compilers; not every one of them ships it
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_set_fiber_name(void* fiber, const char* name);
void __tsan_acquire(void* clock);
void __tsan_release(void* clock);
}
#endif

namespace emulator {

constexpr bool checks_addresses = EMULATOR_MODE == EMULATOR_MODE_ADDRESS;
constexpr bool detects_races = EMULATOR_MODE == EMULATOR_MODE_THREAD;

// For the race detector: what happens before publish(clock) happens before what follows observe(clock).
inline void publish([[maybe_unused]] void* clock) {
#if EMULATOR_MODE == EMULATOR_MODE_THREAD
    __tsan_release(clock);
#endif
}
inline void observe([[maybe_unused]] void* clock) {
#if EMULATOR_MODE == EMULATOR_MODE_THREAD
    __tsan_acquire(clock);
#endif
}

// For the address sanitiser: memory that nobody may touch, and memory that may be touched again.
inline void forbid([[maybe_unused]] const void* memory, [[maybe_unused]] size_t bytes) {
#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS
    __asan_poison_memory_region(memory, bytes);
#endif
}
inline void allow([[maybe_unused]] const void* memory, [[maybe_unused]] size_t bytes) {
#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS
    __asan_unpoison_memory_region(memory, bytes);
#endif
}

}  // namespace emulator
