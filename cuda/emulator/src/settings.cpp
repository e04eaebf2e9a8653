#include "settings.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "device.h"
#include "failures.h"

namespace emulator {
namespace {

[[noreturn]] void refuse(const char* name, const char* expected, const char* value) {
    std::fprintf(stderr, "CUDA emulator: %s: expected %s, got \"%s\"\n", name, expected, value);
    std::exit(2);
}

uint64_t number(const char* name, uint64_t otherwise, uint64_t lowest, uint64_t highest) {
    const char* const value = std::getenv(name);
    if (!value || !*value) return otherwise;
    char* end = nullptr;
    const unsigned long long given = std::strtoull(value, &end, 10);
    char expected[64];
    std::snprintf(expected, sizeof expected, "a number from %llu to %llu", static_cast<unsigned long long>(lowest),
                  static_cast<unsigned long long>(highest));
    if (*end || value[0] == '-' || given < lowest || given > highest) refuse(name, expected, value);
    return given;
}

Order order() {
    const char* const name = "ASSAYER_EMULATOR_SCHEDULE";
    const char* const value = std::getenv(name);
    if (!value || !*value || std::strcmp(value, "forward") == 0) return Order::forward;
    if (std::strcmp(value, "reverse") == 0) return Order::reverse;
    if (std::strcmp(value, "random") == 0) return Order::random;
    refuse(name, "forward, reverse or random", value);
}

bool default_stream_is_late() {
    const char* const name = "ASSAYER_EMULATOR_DEFAULT_STREAM";
    const char* const value = std::getenv(name);
    if (!value || !*value || std::strcmp(value, "at once") == 0) return false;
    if (std::strcmp(value, "late") == 0) return true;
    refuse(name, "\"at once\" or late", value);
}

unsigned capability() {
    const char* const name = "ASSAYER_EMULATOR_ARCH";
    const char* const value = std::getenv(name);
    if (!value || !*value) return Settings{}.capability;
    char* end = nullptr;
    const bool prefixed = std::strncmp(value, "sm_", 3) == 0;
    const unsigned long given = prefixed ? std::strtoul(value + 3, &end, 10) : 0;
    if (!prefixed || *end || !limits_of(static_cast<unsigned>(given))) refuse(name, "one of " EMULATOR_ARCHITECTURES, value);
    return static_cast<unsigned>(given);
}

void read_failure(Settings& read) {
    const char* const name = "ASSAYER_EMULATOR_FAIL";
    const char* const value = std::getenv(name);
    if (!value || !*value) return;
    const char* const colon = std::strchr(value, ':');
    read.failing = colon ? std::string(value, colon) : value;
    char* end = nullptr;
    if (colon) read.failing_time = std::strtoull(colon + 1, &end, 10);
    if (!can_fail(read.failing.c_str()) || (colon && (*end || read.failing_time == 0))) {
        refuse(name, "CALL or CALL:TIME, CALL one of " EMULATOR_CALLS_THAT_CAN_FAIL, value);
    }
}

Settings read() {
    Settings read;
    const auto processors = number("OMP_NUM_THREADS", std::max(1u, std::thread::hardware_concurrency()), 1, 1024);
    read.order = order();
    read.seed = number("ASSAYER_EMULATOR_SEED", read.seed, 0, ~0ull >> 1);
    read.threads = static_cast<unsigned>(number("ASSAYER_EMULATOR_THREADS", processors, 1, 1024));
    read.fill = number("ASSAYER_EMULATOR_FILL", 1, 0, 1) != 0;
    read.launches = number("ASSAYER_EMULATOR_LAUNCHES", 0, 0, 2);
    read.math_errors = number("ASSAYER_EMULATOR_MATH_ERRORS", 0, 1, ~0ull >> 1);
    read.capability = capability();
    read.multiprocessors = static_cast<unsigned>(number("ASSAYER_EMULATOR_MULTIPROCESSORS", 0, 1, 1024));
    read.default_stream_is_late = default_stream_is_late();
    read_failure(read);
    return read;
}

}  // namespace

const Settings& settings() {
    static const Settings all = read();
    return all;
}

}  // namespace emulator
