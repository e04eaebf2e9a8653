"""What malloc hands out during a call holds no zeros: a library that takes them for granted is found.

A new page of the system is zero, and so is most of what malloc hands out in a young process: sums that nobody has set
to zero come out right there, and wrong in a long run.  glibc fills each block where it is told to (mallopt's
M_PERTURB).  Blocks that a library keeps from call to call are its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bindings.shared_object.foreign import of_process

_M_PERTURB = -6  # of glibc's malloc.h
# By run.  A float of these bytes is 3.4e38, an index 2,139,062,143, a 16-bit number NaN or as large; in run 2 it is
# -1.498 as in poison.py: then the runs differ, too.
_BYTES = {1: 0x7F, 2: 0xBF, 3: 0x7F}


@contextmanager
def filled(run: int) -> Iterator[None]:
    """Have what malloc hands out filled meanwhile, by glibc; by another C library nothing is done."""
    fill = _mallopt()
    fill(_M_PERTURB, _BYTES[run] ^ 0xFF)
    try:
        yield
    finally:
        fill(_M_PERTURB, 0)


@functools.cache
def _mallopt() -> Callable[[int, int], int]:
    try:
        return of_process("mallopt", ("int", "int"))
    except AttributeError:
        return lambda option, value: 0
