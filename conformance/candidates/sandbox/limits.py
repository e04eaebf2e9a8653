"""How much a candidate's process may take: of files, of memory, of processes."""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

LARGEST_FILE = 1 << 26  # bytes: a library that floods its output is stopped by SIGXFSZ
MOST_WRITTEN = 1 << 30  # bytes of files in the folder of its own, where that lies on the reader's disk
MOST_PROCESSES = 256  # that one may start, and that are there at once
MOST_THREADS = 4096  # of all of them
_OF_MEMORY = 2  # a process may take this part of the machine's memory
_OUT_FIRST = "1000"  # <linux/oom.h>: where memory runs short, this process is ended before any other
_IN_GROUP = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")


def limit(is_own_user: bool) -> None:
    """Bound what this process may take; is_own_user: whether no others count as its user's."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if is_own_user:
        resource.setrlimit(resource.RLIMIT_NPROC, (MOST_THREADS, MOST_THREADS))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OUT_FIRST)


def most_memory() -> int:
    """Return the bytes of memory that one candidate's process may hold: half of the machine's, or the container's."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for path in _IN_GROUP:
        with contextlib.suppress(OSError, ValueError):  # "max" is no number
            whole = min(whole, int(path.read_text()))
    return whole // _OF_MEMORY
