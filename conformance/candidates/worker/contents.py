"""What a buffer holds before a run, part by part: at the full model's sizes one array takes up to 300 MB.

Parts go into the arena, and are compared there, one by one.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .arena import PAGE

BLOCK = 1 << 24  # bytes


class MadeInParts(Protocol):
    """An array that is nowhere in memory as a whole."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    size: int

    def blocks(self, most: int) -> Iterator[NDArray[Any]]:
        """Yield dense parts in the order of memory, each of at most so many bytes."""
        ...


Contents = bytes | NDArray[Any] | MadeInParts


def held(array: NDArray[Any]) -> Contents:
    """Return what stands for a dense array: its bytes, or where these are many the array itself."""
    return array.tobytes() if array.nbytes <= BLOCK else array


def parts(contents: Contents, dtype: np.dtype[Any]) -> Iterator[bytes]:
    """Yield the contents, as they are stored in this type."""
    if isinstance(contents, bytes):
        yield contents
    elif isinstance(contents, np.ndarray):
        flat = contents.reshape(-1)
        step = BLOCK // dtype.itemsize
        yield from (flat[start : start + step].tobytes() for start in range(0, flat.size, step))
    else:
        yield from (block.astype(dtype, copy=False).tobytes() for block in contents.blocks(BLOCK))


def spans(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a stretch of the arena, from where to where."""
    yield from ((at, min(at + BLOCK, stop)) for at in range(start, stop, BLOCK))


def read(memory: mmap.mmap, start: int, stop: int) -> bytes:
    """Return a part of the arena."""
    content = memory[start:stop]
    _put_aside(memory, start, stop)
    return content


def write(memory: mmap.mmap, start: int, content: bytes) -> None:
    """Fill a part of the arena."""
    memory[start : start + len(content)] = content
    _put_aside(memory, start, start + len(content))


def _put_aside(memory: mmap.mmap, start: int, stop: int) -> None:
    """Take a large part out of this process's memory; what it holds stays, and comes back when it is read."""
    first, last = -(-start // PAGE) * PAGE, stop // PAGE * PAGE
    if last - first >= BLOCK // 2 and hasattr(memory, "madvise"):
        memory.madvise(mmap.MADV_DONTNEED, first, last - first)
