"""In the worker's process: it runs short of memory, threads or files itself, which says nothing of the candidate.

Unless that is what has taken them: a process that holds more than half of what it may is the candidate's doing.
"""

from __future__ import annotations

import errno
from pathlib import Path

from conformance.candidates.sandbox.limits import MOST_THREADS, most_memory

_SHORT = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC}
_NO_THREAD = "can't start new thread"  # all that Python says of pthread_create's error
_STATUS = Path("/proc/self/status")  # of Linux: "VmSize:  1234 kB", "Threads:  2"
_SHARE = 2  # what is more than this part of the allowed is taken by the candidate
_KB = 1024


def mishap(error: BaseException, shared: int) -> str:
    """Say what the worker itself ran short of, or nothing where an error is another, or the candidate's doing.

    shared: bytes of addresses that the process has in common with the judge.
    """
    if not _is_short(error):
        return ""
    held = _held()
    threads, memory, addresses = held.get("Threads", 0), held.get("RssAnon", 0), held.get("VmSize", 0) - shared
    if threads > MOST_THREADS // _SHARE or max(memory, addresses) > most_memory() // _SHARE:
        return ""
    words = str(error) or "out of memory"
    return f"the worker itself: {words}; its process has {threads} threads and {memory / 1e6:.0f} MB of its own"


def _is_short(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _SHORT
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and str(error) == _NO_THREAD)


def _held() -> dict[str, int]:
    """What the process holds: numbers of bytes, and of threads; nothing where no system tells."""
    try:
        lines = [line.split() for line in _STATUS.read_text().splitlines()]
    except OSError:  # for want of a file, too
        return {}
    return {name.rstrip(":"): int(number) * (_KB if unit else 1) for name, number, *unit in filter(_tells, lines)}


def _tells(words: list[str]) -> bool:
    return len(words) > 1 and words[1].isdigit() and words[2:] in ([], ["kB"])
