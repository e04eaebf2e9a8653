"""What becomes of freed memory: kept, so that a training step does not fault its arrays in anew, or handed back."""

from __future__ import annotations

from typing import Any

import cffi

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's malloc.h
_MOST, _PAGES = 2**31 - 1, 2**17


def keep_freed_memory() -> bool:
    """Have the C library keep what is freed instead of handing it back to the system; return whether it could.

    glibc maps each large array afresh and unmaps it when it is freed; a step of large arrays then spends its time on
    page faults.  Only glibc is told (mallopt); elsewhere nothing changes.  Memory once used stays with the process.
    """
    return _from(_MOST)


def return_freed_memory() -> bool:
    """Have it hand back every array that it frees, but small ones; return whether it could.

    Then a process holds what its arrays take.  glibc by itself begins to keep arrays as large as those freed before.
    """
    return _from(_PAGES)


def _from(size: int) -> bool:
    """Map and unmap arrays of that many bytes and more."""
    ffi = cffi.FFI()
    ffi.cdef("int mallopt(int parameter, int value);")
    try:
        library: Any = ffi.dlopen(None)
        mallopt = library.mallopt
    except (AttributeError, OSError):
        return False
    taken = [mallopt(name, size) == 1 for name in (_MMAP_THRESHOLD, _TRIM_THRESHOLD)]
    return all(taken)
