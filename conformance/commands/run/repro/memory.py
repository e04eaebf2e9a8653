"""How much memory one call may take of this machine, and a limit that holds what computes its result to that."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup/memory.max")  # what a container may have: a number of bytes, or "max"
_STATM = Path("/proc/self/statm")  # the first entry: pages of addresses that this process has
_SHARE = 2  # half of it: a diagnosis compares results with as many again


def budget() -> int:
    """Return the bytes that the arrays of one call, and what the judge computes of them, may take."""
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError):
        there = min(there, int(_CGROUP.read_text(encoding="ascii")))
    return there // _SHARE


@contextlib.contextmanager
def held_to(bytes: int) -> Iterator[None]:
    """Raise MemoryError where the code inside asks for more than this, on systems that can say how much that is.

    A process that is started inside inherits the limit.
    """
    if not _STATM.exists():
        yield
        return
    import resource  # where there is /proc, there is this

    before = resource.getrlimit(resource.RLIMIT_AS)
    addresses = int(_STATM.read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    limits = [addresses + bytes, *(limit for limit in before if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def in_words(bytes: int) -> str:
    """Return a number of bytes as a person reads it: 1.5 GiB."""
    size, units = float(bytes), iter(("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"))
    unit = next(units)
    while size >= 1024 and unit != "PiB":
        size, unit = size / 1024, next(units)
    return f"{size:.3g} {unit}"
