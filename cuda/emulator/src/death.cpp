#include "death.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstring>

#include "block.h"

namespace emulator {
#if EMULATOR_MODE == EMULATOR_MODE_ADDRESS
namespace {

void say_who() {
    if (!running_block || !running_thread) return;
    char who[512], where[512];
    describe(this_block(), running_thread, who, sizeof who);
    std::fprintf(stderr, "CUDA emulator: it happened in %s\n", who);
    void* const address = __asan_report_present() ? __asan_get_report_address() : nullptr;
    if (address && this_block().shared().describe(address, where, sizeof where)) std::fprintf(stderr, "CUDA emulator: the address is %s\n", where);
}

// Each sanitiser's library keeps a callback of its own.
int set_callback(dl_phdr_info* library, size_t, void*) {
    if (!std::strstr(library->dlpi_name, "san")) return 0;
    void* const handle = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) return 0;
    using Set = void (*)(void (*)());
    if (const auto set = reinterpret_cast<Set>(dlsym(handle, "__sanitizer_set_death_callback"))) set(say_who);
    dlclose(handle);
    return 0;
}

}  // namespace

void name_the_culprit() {
    static const int set = dl_iterate_phdr(set_callback, nullptr);
    (void)set;
}
#else
void name_the_culprit() {}
#endif
}  // namespace emulator
