/* fork() after a call that shared its work: libgomp's threads are not in the copy, but their list is, so that its next call
 * would wait for them for ever.  The thread that forks ends its own before, and they start again where they are needed, on
 * both sides.  LLVM's libomp sees to that itself. */
#include "parallel.h"

#if defined(_OPENMP) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9 && !defined(_WIN32)
#include <pthread.h>

/* Refused within a parallel region, where none of our own code forks. */
static void end_threads(void) { (void)omp_pause_resource_all(omp_pause_soft); }

/* When the library is unloaded, the handler goes with it. */
__attribute__((constructor)) static void register_handler(void) { (void)pthread_atfork(end_threads, 0, 0); }
#endif
