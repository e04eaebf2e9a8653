"""What a buffer holds before a run, part by part: at the full model's sizes one array takes up to 300 MB.

Parts go into the arena, and are compared there, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 20  # bytes: what is freed of a larger one goes back to the system, and comes back page by page


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
