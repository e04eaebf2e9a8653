#include "identities.h"

#include <algorithm>

#include "sanitizers.h"

namespace emulator {
namespace {

#if defined(__clang__) ? __clang_major__ >= 14 : __GNUC__ >= 13
constexpr size_t most = 240;  // of 255: the host has threads too
#else
constexpr size_t most = 2048;
#endif
constexpr size_t most_places = 8, threads_at_places = 1024;
// Prime, so that threads a power of two apart are told apart.
constexpr size_t primes[] = {97, 101, 103, 107, 109, 113};

}  // namespace

size_t Identities::places_for(size_t threads) {
    return std::clamp<size_t>(std::min(most, threads_at_places) / threads, 2, most_places);
}

void Identities::prepare(size_t threads, size_t places) {
    threads_ = threads;
    each_ = std::min(threads, most / places);
#if EMULATOR_MODE == EMULATOR_MODE_THREAD
    while (all_.size() < each_ * places) all_.push_back(__tsan_create_fiber(0));
#endif
}

size_t Identities::distinct(uint64_t seed) const {
    return each_ == threads_ ? threads_ : primes[(seed >> 40) % (sizeof primes / sizeof *primes)];
}

void Identities::renew() {
#if EMULATOR_MODE == EMULATOR_MODE_THREAD
    void* const host = __tsan_get_current_fiber();
    for (void*& identity : all_) {
        __tsan_switch_to_fiber(identity, 1);
        __tsan_switch_to_fiber(host, 0);  // 0: the change orders
        __tsan_destroy_fiber(identity);
        identity = __tsan_create_fiber(0);
    }
#endif
}

void Identities::name([[maybe_unused]] void* identity, [[maybe_unused]] const char* text) {
#if EMULATOR_MODE == EMULATOR_MODE_THREAD
    __tsan_set_fiber_name(identity, text);
#endif
}

}  // namespace emulator
