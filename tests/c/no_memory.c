/* malloc as on a machine whose memory is used up, for this project's libraries alone: from the call of refuse_memory(1) to
 * that of refuse_memory(0).  What starts their threads ends the process where it has none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int32_t refuses;

int32_t refuse_memory(int32_t yes) {
    refuses = yes;
    return 0;
}

static int is_ours(void* caller) {
    Dl_info found;
    return dladdr(caller, &found) && strstr(found.dli_fname, "libassayer");
}

void* malloc(size_t bytes) {
    static void* (*plain)(size_t);
    if (!plain) *(void**)&plain = dlsym(RTLD_NEXT, "malloc");
    return refuses && is_ours(__builtin_return_address(0)) ? NULL : plain(bytes);
}
