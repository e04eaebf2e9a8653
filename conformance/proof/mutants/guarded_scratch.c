/* In place of cuda/src/scratch.c: every block at the end of pages of its own, filled with NaN, between two pages without access.
 * A call that reaches past its working memory, reads there what it has not written, or keeps it, shows. */
#define _DEFAULT_SOURCE
#include "scratch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64, CANARY = 0xa5, PART_OF_NAN = 0xff };
static const int64_t MOST = (int64_t)1 << 40;

/* Lies in the page before the block's first one. */
struct head {
    int64_t bytes, mapped;
};

static int64_t round_to(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

struct scratch scratch_take(int64_t count, int64_t size) {
    const struct scratch none = {0};
    if (count < 1 || count > MOST / size) return none;
    const int64_t page = sysconf(_SC_PAGESIZE), bytes = count * size, own = round_to(bytes, page), mapped = own + 3 * page;
    char* const all = mmap(NULL, (size_t)mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return none;
    char *const pages = all + 2 * page, *const memory = pages + own - round_to(bytes, ALIGNMENT);
    *(struct head*)(all + page) = (struct head){bytes, mapped};
    memset(pages, CANARY, (size_t)own);
    memset(memory, PART_OF_NAN, (size_t)bytes);
    mprotect(all, (size_t)page, PROT_NONE);
    mprotect(pages + own, (size_t)page, PROT_NONE);
    return (struct scratch){memory, 0};
}

static void check_canary(const char* from, const char* to) {
    for (; from < to; from++)
        if (*(const unsigned char*)from != CANARY) abort();
}

void scratch_give(struct scratch taken) {
    if (!taken.memory) return;
    const int64_t page = sysconf(_SC_PAGESIZE);
    char *const memory = taken.memory, *const pages = memory - (uintptr_t)memory % (uintptr_t)page, *const all = pages - 2 * page;
    const struct head head = *(const struct head*)(all + page);
    check_canary(pages, memory);
    check_canary(memory + head.bytes, all + head.mapped - page);
    munmap(all, (size_t)head.mapped);
}
