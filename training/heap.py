"""Keeping freed memory in the process, so that a training step does not fault its arrays in anew every time."""

from __future__ import annotations

from typing import Any

import cffi

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's malloc.h
_MOST = 2**31 - 1


def keep_freed_memory() -> bool:
    """Have the C library keep what is freed instead of handing it back to the system; return whether it could.

    glibc maps each large array afresh and unmaps it when it is freed; a step of large arrays then spends its time on
    page faults.  Only glibc is told (mallopt); elsewhere nothing changes.  Memory once used stays with the process.
    """
    ffi = cffi.FFI()
    ffi.cdef("int mallopt(int parameter, int value);")
    try:
        library: Any = ffi.dlopen(None)
        mallopt = library.mallopt
    except (AttributeError, OSError):
        return False
    taken = [mallopt(name, _MOST) == 1 for name in (_MMAP_THRESHOLD, _TRIM_THRESHOLD)]
    return all(taken)
