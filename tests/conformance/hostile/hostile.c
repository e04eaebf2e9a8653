/* A candidate that tries to escape, to cheat or to do harm: one way for each value of `scale`, and of HOSTILE_AT_LOAD.
 *
 * It prints what came of the attempt: "succeeded", or why not.  What it aims at stands in variables HOSTILE_*: it could
 * find all of that out by itself. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <grp.h>
#include <locale.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum way {
    RIGHT,
    /* files */
    READS_GOLDEN, DELETES_GOLDEN, LINKS_GOLDEN, RENAMES_GOLDEN, REWRITES_SOURCE, READS_CACHE, READS_HOME, WRITES_PTH, WRITES_PYCACHE,
    PUTS_SYMLINK, READS_SECRET, SHARED_FILE,
    /* the judge's process */
    READS_MEMORY, READS_PROCESS, TRACES, TAKES_DESCRIPTOR, KILLS_JUDGE, KILLS_PARENT, KILLS_ALL, LIMITS_JUDGE,
    /* walls */
    MOUNTS, NEW_NAMESPACE, LEAVES_ROOT, GAINS_ROOT,
    /* the network */
    CONNECTS, SENDS, CONNECTS_LOCALLY, SENDS_LOCALLY, RINGS,
    /* its own end */
    EXITS, EXITS_AT_ONCE, ABORTS, ABORTS_AT_EXIT, JUMPS_AWAY, KILLS_GROUP, STOPS, LOOPS, SLEEPS, LOOPS_DEAF, OVERFLOWS_STACK,
    /* without end */
    FORK_BOMB, MEMORY_BOMB, ARENA_BOMB, FILLS_DISK, FLOODS_OUTPUT, THREAD_BOMB,
    /* the connection */
    HALF_MESSAGE, GARBLED, HUGE_MESSAGE, PICKLE, FORGED_REPLY, CLOSES_ALL, REPLACES_CONNECTION, CUTS_ARENA, CUTS_OUTPUT, ESCAPES,
    /* what it leaves in its process */
    DAEMON, CHILD, LATE, DIRECTORY, LOCALE, ROUNDING, SUBNORMALS, SIGNALS, UMASK, ENVIRONMENT, LIMITS, DESCRIPTORS, SHARED_MEMORY,
    /* the judge's tools in its process */
    INTERPOSES,
};

static const char* given(const char* name) {
    const char* const value = getenv(name);
    return value ? value : "";
}

static pid_t judge(void) { return (pid_t)atoi(given("HOSTILE_JUDGE")); }

/* What an attempt returns: whether it has succeeded; if not, errno says why. */
static bool opened(const char* path, int how) {
    const int file = open(path, how, 0600);
    if (file < 0) return false;
    char byte;
    const bool is_read = (how & O_ACCMODE) != O_RDONLY || read(file, &byte, 1) == 1;
    close(file);
    return is_read;
}

static bool forge(const void* bytes, size_t count) { /* into every descriptor that is a socket */
    bool wrote = false;
    for (int file = 3; file < 64; file++) {
        struct stat status;
        if (fstat(file, &status) == 0 && S_ISSOCK(status.st_mode)) wrote |= write(file, bytes, count) == (ssize_t)count;
    }
    return wrote;
}

static bool forge_message(uint64_t length, const char* text) {
    const uint64_t head[2] = {length, 0};
    return forge(head, sizeof head) && forge(text, strlen(text));
}

static bool reaches(int family, int kind, bool connects) {
    const int file = socket(family, kind, 0);
    if (file < 0) return false;
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(given("HOSTILE_PORT")))};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    inet_pton(AF_INET, "127.0.0.1", &where.sin_addr);
    strncpy(local.sun_path, given("HOSTILE_SOCKET"), sizeof local.sun_path - 1);
    const bool is_local = family == AF_UNIX;
    const struct sockaddr* const address = is_local ? (const void*)&local : (const void*)&where;
    const socklen_t size = is_local ? sizeof local : sizeof where;
    const bool done = connects ? connect(file, address, size) == 0 : sendto(file, "x", 1, 0, address, size) == 1;
    close(file);
    return done;
}

static float* late_output;
static int64_t late_count;
static void* write_late(void* unused) {
    (void)unused;
    usleep(1000);
    for (int64_t i = 0; i < late_count; i++) late_output[i] += 1;
    return NULL;
}

static void* sleep_on(void* unused) {
    for (;;) pause();
    return unused;
}

static int deeper(int depth) {
    volatile char room[4096];
    room[0] = (char)depth;
    return room[0] + deeper(depth + 1) + room[0];
}

static void fill(const char* folder) { /* with files of a size that is allowed */
    static char block[1 << 20];
    for (int number = 0; number < 4096; number++) {
        char path[512];
        snprintf(path, sizeof path, "%s/fill-%d", folder, number);
        const int file = open(path, O_CREAT | O_WRONLY, 0600);
        if (file < 0) return;
        for (int i = 0; i < 63; i++)
            if (write(file, block, sizeof block) < 0) return;
        close(file);
    }
    errno = 0;
}

static void die(void) { abort(); }

int hostile_memcmp(const void* a, const void* b, size_t n) { return (void)a, (void)b, (void)n, 0; }
int memcmp(const void* a, const void* b, size_t n) { return hostile_memcmp(a, b, n); }
void* memcpy(void* to, const void* from, size_t n) { return memmove(to, from, n); }

static bool attempt(enum way way) {
    char path[512], byte;
    struct iovec here = {&byte, 1}, there = {(void*)(uintptr_t)strtoull(given("HOSTILE_ADDRESS"), NULL, 0), 1};
    const char* const golden = given("HOSTILE_GOLDEN");
    switch (way) {
        case READS_GOLDEN: return opened(golden, O_RDONLY);
        case DELETES_GOLDEN: return unlink(golden) == 0;
        case LINKS_GOLDEN:
            snprintf(path, sizeof path, "%s/link", given("TMPDIR"));
            return link(golden, path) == 0;
        case RENAMES_GOLDEN:
            snprintf(path, sizeof path, "%s.gone", golden);
            return rename(golden, path) == 0;
        case REWRITES_SOURCE: return opened(given("HOSTILE_SOURCE"), O_WRONLY | O_APPEND);
        case READS_CACHE: return opened(given("HOSTILE_CACHE"), O_RDONLY);
        case READS_HOME: return opened(given("HOSTILE_PRIVATE"), O_RDONLY);
        case WRITES_PTH: return opened(given("HOSTILE_PTH"), O_CREAT | O_WRONLY);
        case WRITES_PYCACHE: return opened(given("HOSTILE_PYCACHE"), O_CREAT | O_WRONLY);
        case PUTS_SYMLINK: return symlink("/etc/passwd", given("HOSTILE_PLACE")) == 0;
        case READS_SECRET: return errno = ENOENT, *given("HOSTILE_API_TOKEN");
        case SHARED_FILE: return opened("/dev/shm/hostile", O_CREAT | O_WRONLY);
        case READS_MEMORY: snprintf(path, sizeof path, "/proc/%d/mem", judge()); return opened(path, O_RDWR);
        case READS_PROCESS: return process_vm_readv(judge(), &here, 1, &there, 1, 0) == 1;
        case TRACES: return ptrace(PTRACE_ATTACH, judge(), NULL, NULL) == 0;
        case TAKES_DESCRIPTOR: return syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, judge(), 0), 1, 0) >= 0;
        case KILLS_JUDGE: return kill(judge(), SIGKILL) == 0;
        case KILLS_PARENT: return kill(getppid(), SIGKILL) == 0;
        case KILLS_ALL: return kill(-1, 0) == 0; /* asks only: where it is not stopped, it would end the machine */
        case LIMITS_JUDGE: return prlimit(judge(), RLIMIT_NOFILE, &(struct rlimit){1, 1}, NULL) == 0;
        case MOUNTS: return mount("none", "/usr", "tmpfs", 0, NULL) == 0;
        case NEW_NAMESPACE: return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
        case LEAVES_ROOT: return chroot(given("TMPDIR")) == 0;
        case GAINS_ROOT: return setgroups(0, NULL) == 0 || setuid(getuid() + 1) == 0;
        case CONNECTS: return reaches(AF_INET, SOCK_STREAM, true);
        case SENDS: return reaches(AF_INET, SOCK_DGRAM, false);
        case CONNECTS_LOCALLY: return reaches(AF_UNIX, SOCK_STREAM, true);
        case SENDS_LOCALLY: return socket(AF_UNIX, SOCK_DGRAM, 0) >= 0;
        case RINGS: return syscall(SYS_io_uring_setup, 8, (char[120]){0}) >= 0;
        case EXITS: exit(0);
        case EXITS_AT_ONCE: _exit(0);
        case ABORTS: abort();
        case ABORTS_AT_EXIT: atexit(die); exit(0);
        case JUMPS_AWAY: pthread_exit(NULL);
        case KILLS_GROUP: kill(0, SIGKILL); return true;
        case STOPS: raise(SIGSTOP); return true;
        case LOOPS: for (volatile int i = 0;; i++) {}
        case SLEEPS: sleep(1000); return true;
        case LOOPS_DEAF:
            for (int number = 1; number < 64; number++) signal(number, SIG_IGN);
            for (volatile int i = 0;; i++) {}
        case OVERFLOWS_STACK: return deeper(0);
        case FORK_BOMB: for (;;) if (fork() < 0) usleep(100);
        case MEMORY_BOMB:
            for (;;) {
                char* const block = malloc(1 << 24);
                if (block) memset(block, 1, 1 << 24);
            }
        case FILLS_DISK: fill(given("TMPDIR")); return errno == 0;
        case FLOODS_OUTPUT: for (;;) puts("again and again and again and again and again and again and again and again");
        case THREAD_BOMB:
            for (int i = 0; i < 100000; i++) {
                pthread_t thread;
                if ((errno = pthread_create(&thread, NULL, sleep_on, NULL))) return false;
            }
            return true;
        case HALF_MESSAGE: forge("\5\0\0", 3); pause(); return true;
        case GARBLED: return forge("garbage, garbage, garbage, garbage, garbage, garbage, garbage", 60);
        case HUGE_MESSAGE: return forge_message(UINT64_C(3) << 30, "");
        case PICKLE: return forge_message(42, "cos\nsystem\n(S'touch pwned-by-a-candidate'\ntR.");
        case FORGED_REPLY: return forge_message(32, "[\"done\", [[0, 0, 0], [\"\", \"\"]]]");
        case CLOSES_ALL:
            for (int file = 0; file < 1024; file++) close(file);
            return true;
        case REPLACES_CONNECTION:
            for (int file = 3; file < 64; file++) dup2(1, file);
            return true;
        case CUTS_ARENA:
            for (int file = 3; file < 64; file++)
                if (ftruncate(file, 0) == 0) return true;
            return false;
        case CUTS_OUTPUT: puts("before"), fflush(stdout); return ftruncate(1, 0) == 0 && lseek(1, 1 << 20, SEEK_SET) > 0;
        case ESCAPES: puts("\33]0;owned\7\33[2J\33[31mall is well\x9b" "1m \xe2\x80\xae"); return fflush(stdout) == 0;
        case DAEMON:
            if (fork() == 0) {
                setsid();
                if (fork() == 0) for (;;) pause();
                _exit(0);
            }
            usleep(20000);
            return true;
        case CHILD:
            if (fork() == 0) for (;;) pause();
            return true;
        case DIRECTORY: return chdir("/usr") == 0;
        case LOCALE: return setlocale(LC_ALL, "C.UTF-8") && setlocale(LC_NUMERIC, "POSIX") && setlocale(LC_CTYPE, "POSIX");
        case ROUNDING: return fesetround(FE_UPWARD) == 0;
#if defined(__x86_64__)
        case SUBNORMALS: _mm_setcsr(_mm_getcsr() | 0x8040); return true;
#endif
        case SIGNALS: return sigprocmask(SIG_BLOCK, &(sigset_t){{1 << (SIGTERM - 1)}}, NULL) == 0;
        case UMASK: umask(0); return true;
        case ENVIRONMENT: return setenv("LD_PRELOAD", "/tmp/evil.so", 1) == 0 && setenv("PYTHONPATH", "/tmp", 1) == 0;
        case LIMITS: return setrlimit(RLIMIT_NOFILE, &(struct rlimit){100, 100}) == 0;
        case DESCRIPTORS: return dup2(1, 0) == 0;
        case SHARED_MEMORY: return shmget(0x486f7374, 4096, IPC_CREAT | 0600) >= 0;
        default: return true;
    }
}

static void tell(bool succeeded) {
    const int why = errno;
    if (fcntl(1, F_GETFD) < 0) return;
    printf("%s\n", succeeded ? "succeeded" : strerror(why));
    fflush(stdout);
}

__attribute__((constructor)) static void at_load(void) {
    if (!*given("HOSTILE_AT_LOAD")) return;
    errno = 0;
    tell(attempt((enum way)atoi(given("HOSTILE_AT_LOAD"))));
}

static void bomb_arena(float* output) { /* all that may be shared with the judge lies around it, closed */
    const uintptr_t page = (uintptr_t)output & ~(uintptr_t)4095;
    for (uintptr_t at = page;; at += 1 << 20) {
        if (mprotect((void*)at, 1 << 20, PROT_READ | PROT_WRITE)) return;
        memset((void*)at, 1, 1 << 20);
    }
}

int32_t cuda_scale(const float* input, float scale, float* output, int64_t n, void* stream) {
    (void)stream;
    if (!input || !output || n < 1) return -2;
    const enum way way = (enum way)scale;
    for (int64_t i = 0; i < n; i++) output[i] = scale * input[i];
    errno = 0;
    if (way == ARENA_BOMB) bomb_arena(output);
    if (way == INTERPOSES) output[0] += 1;
    if (way == LATE) {
        pthread_t thread;
        late_output = output, late_count = n;
        pthread_create(&thread, NULL, write_late, NULL), pthread_detach(thread);
    } else if (way != RIGHT && way != INTERPOSES && way != ARENA_BOMB) {
        tell(attempt(way));
    }
    return 0;
}
