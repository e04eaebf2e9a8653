#include "death.h"

#include <dlfcn.h>
#include <link.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "block.h"
#include "device_memory.h"

namespace emulator {
namespace {

[[maybe_unused]] bool say_who() {
    if (!running_block || !running_thread) return false;
    char who[512];
    describe(this_block(), running_thread, who, sizeof who);
    std::fprintf(stderr, "CUDA emulator: it happened in %s\n", who);
    return true;
}

#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS

void say_who_and_where() {
    char where[512];
    if (!say_who() || !__asan_report_present()) return;
    if (this_block().shared().describe(__asan_get_report_address(), where, sizeof where)) {
        std::fprintf(stderr, "CUDA emulator: the address is %s\n", where);
    }
}

// Each sanitiser's library keeps a callback of its own; clang links them into the program, which has no name.
int set_callback(dl_phdr_info* library, size_t, void*) {
    const bool is_program = !*library->dlpi_name;
    if (!is_program && !std::strstr(library->dlpi_name, "san")) return 0;
    void* const handle = dlopen(is_program ? nullptr : library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) return 0;
    using Set = void (*)(void (*)());
    if (const auto set = reinterpret_cast<Set>(dlsym(handle, "__sanitizer_set_death_callback"))) set(say_who_and_where);
    dlclose(handle);
    return 0;
}

bool set_up() { return dl_iterate_phdr(set_callback, nullptr) == 0; }

#elif EMULATOR_MODE == EMULATOR_MODE_FAST

// An address that is nobody's.  What the process had arranged for the signal happens when the instruction is repeated.
struct sigaction before_segv, before_bus;
void say_who_and_repeat(int signal, siginfo_t* information, void*) {
    const char* const name = signal == SIGSEGV ? "SIGSEGV" : "SIGBUS";
    if (running_thread) std::fprintf(stderr, "CUDA emulator: %s at address %p\n", name, information->si_addr);
    else if (is_device_memory(information->si_addr))
        std::fprintf(stderr, "CUDA emulator: %s at address %p: the host reads or writes device memory, which only kernels and copies can\n", name, information->si_addr);
    say_who();
    sigaction(SIGSEGV, &before_segv, nullptr);
    sigaction(SIGBUS, &before_bus, nullptr);
}

bool set_up() {
    struct sigaction action = {};
    action.sa_sigaction = say_who_and_repeat;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    return sigaction(SIGSEGV, &action, &before_segv) == 0 && sigaction(SIGBUS, &action, &before_bus) == 0;
}

#else

bool set_up() { return true; }  // the race detector names fibers itself

#endif
}  // namespace

void name_the_culprit() {
    static const bool once = set_up();
    (void)once;
}

}  // namespace emulator
