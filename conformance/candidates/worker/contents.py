"""What a buffer holds before a run, part by part: at the full model's sizes one array takes up to 300 MB.

Parts go into the arena, and are compared there, one by one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .arena import Memory

BLOCK = 1 << 20  # bytes: what is freed of a larger one goes back to the system, and comes back page by page
_LARGE = 1 << 18  # bytes from which a part is not mapped


class MadeInParts(Protocol):
    """An array that is nowhere in memory as a whole."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    size: int

    def astype(self, dtype: Any) -> MadeInParts:
        """Return the same array, stored as another type."""
        ...

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
        yield from (block.tobytes() for block in contents.blocks(BLOCK))


def spans(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a stretch of the arena, from where to where."""
    yield from ((at, min(at + BLOCK, stop)) for at in range(start, stop, BLOCK))


def read(memory: Memory, start: int, stop: int) -> bytes:
    """Return a part of the arena; a large one from the file, so that it never is in this process's memory."""
    return os.pread(memory.file, stop - start, start) if stop - start >= _LARGE else memory[start:stop]


def read_into(held: NDArray[np.uint8], memory: Memory, start: int) -> None:
    """Fill an array with what stands in the arena from there on; a large one likewise."""
    if held.size < _LARGE:
        held[:] = np.frombuffer(memory[start : start + held.size], np.uint8)
        return
    rest = held.data
    while rest:
        taken = os.preadv(memory.file, [rest], start)
        rest, start = rest[taken:], start + taken


def write(memory: Memory, start: int, content: bytes) -> None:
    """Fill a part of the arena; a large one likewise."""
    if len(content) < _LARGE:
        memory[start : start + len(content)] = content
        return
    rest = memoryview(content)
    while rest:
        written = os.pwrite(memory.file, rest, start)
        rest, start = rest[written:], start + written
