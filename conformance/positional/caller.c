/* Makes calls of a 32-bit library, each in a process of its own.
 *
 *     caller LIBRARY SYMBOL SECONDS FILE...
 *
 * A file begins with the words that its call finds on the stack, in their order, then holds the arrays; it is mapped at
 * BASE, so that an address in it is a number that whoever wrote the file knew, and what the call writes stands in it
 * afterwards.  A structure passed by value is what lies on the stack (System V ABI for i386, 3.2.3): no prototype stands
 * between the words and the function.  Standard output: a line for each file, `returned CODE`, `signal NUMBER` or
 * `ended CODE`.  Exit code: 3 where there is no such function, 4 where the library cannot be opened, each with its
 * reason on standard error.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 64
#define BASE 0x20000000u

_Static_assert(sizeof(void*) == 4, "expected a compiler for 32-bit x86");

struct words {
    uint32_t word[WORDS];
};
typedef int32_t function(struct words);

static const struct words* map(const char* path) {
    const int file = open(path, O_RDWR);
    const off_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
    if (size < 0) return NULL;
    void* at = mmap((void*)BASE, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
    return at == (void*)BASE ? at : NULL;
}

/* The function, in a library that is opened for it; ends the process, with the reason, where there is none. */
static function* find(const char* library, const char* symbol) {
    void* opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    function* found = opened ? (function*)dlsym(opened, symbol) : NULL;
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(opened ? 3 : 4);
    }
    return found;
}

/* In the child: the code goes through a pipe, for a function may print and end as it likes; what it prints goes to
 * standard error.  The library is opened here and not before: a runtime that starts threads then does not survive a
 * fork.  The call's memory is mapped before, as such a runtime takes what is free. */
static void make(const char* library, const char* symbol, const char* path, unsigned seconds, int to, int said) {
    close(said);
    const struct words* words = map(path);
    if (!words) {
        perror(path);
        _exit(5);
    }
    function* called = find(library, symbol);
    alarm(seconds);
    const int32_t code = called(*words);
    _exit(write(to, &code, sizeof code) == sizeof code ? 0 : 5);
}

static void report(const char* library, const char* symbol, const char* path, unsigned seconds, int said) {
    int ends[2], status = 0;
    int32_t code = 0;
    if (pipe(ends)) _exit(5);
    const pid_t child = fork();
    if (child == 0) make(library, symbol, path, seconds, ends[1], said);
    close(ends[1]);
    if (child < 0 || waitpid(child, &status, 0) != child) _exit(5);
    if (WIFSIGNALED(status))
        dprintf(said, "signal %d\n", WTERMSIG(status));
    else if (WEXITSTATUS(status) || read(ends[0], &code, sizeof code) != sizeof code)
        dprintf(said, "ended %d\n", WEXITSTATUS(status));
    else
        dprintf(said, "returned %d\n", (int)code);
    close(ends[0]);
}

/* Whether there is the function, told in a process of its own; else the exit code that says why not. */
static int tried(const char* library, const char* symbol) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        find(library, symbol);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return 5;
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "%s: signal %d as it is opened\n", library, WTERMSIG(status));
        return 4;
    }
    return WEXITSTATUS(status);
}

int main(int count, char** given) {
    if (count < 4) return 5;
    const int said = dup(STDOUT_FILENO); /* what the library prints, even as it is opened, is no answer */
    if (said < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 5;
    const int absent = tried(given[1], given[2]);
    for (int i = 4; !absent && i < count; i++) report(given[1], given[2], given[i], (unsigned)atoi(given[3]), said);
    return absent;
}
