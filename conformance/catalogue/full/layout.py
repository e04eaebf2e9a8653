"""A full-size array of a small one: made part by part, since whole it takes up to 300 MB."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .places import Places

Array = NDArray[Any]
Member = NDArray[np.int64]
_BLOCK = 1 << 24  # bytes that are made at once, and kept to be taken rows from


class LaidOut:
    """The full-size array, of which nothing is held but the small one.

    members: for each axis of the small array which of it stands where; None where it stands as it is.
    """

    def __init__(self, small: Array, members: Sequence[Member | None]) -> None:
        self._small, self._members = small, members
        known = zip(members, small.shape, strict=True)
        self.shape = tuple(length if member is None else member.size for member, length in known)
        self.dtype, self.size = small.dtype, math.prod(self.shape)

    def astype(self, dtype: Any) -> LaidOut:
        """Return the same array, stored as another type."""
        return LaidOut(self._small.astype(dtype, copy=False), self._members)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if not self.shape:
            return np.asarray(self._small, dtype)
        whole, start = np.empty(self.size, dtype or self.dtype), 0
        for block in self.blocks():
            whole[start : start + block.size] = block.reshape(-1)
            start += block.size
        return whole.reshape(self.shape)

    def blocks(self, most: int = _BLOCK) -> Iterator[Array]:
        """Yield the array in dense parts in the order of memory, each of at most so many bytes."""
        row_bytes = self.dtype.itemsize * math.prod(self.shape[1:])
        member = self._members[0]
        if row_bytes > most:
            for row in range(self.shape[0]) if member is None else member:
                yield from LaidOut(self._small[row], self._members[1:]).blocks(most)
            return
        wide = self._wide(self._small) if len(self._small) * row_bytes <= _BLOCK else None
        step = max(1, most // max(1, row_bytes))
        for start in range(0, self.shape[0], step):
            rows = slice(start, start + step) if member is None else member[start : start + step]
            if wide is None:
                yield np.ascontiguousarray(self._wide(_rows(self._small, rows)))
            else:
                yield np.ascontiguousarray(_rows(wide, rows))

    def _wide(self, rows: Array) -> Array:
        """Return rows of the small array, laid out along every axis but the first."""
        for axis, member in enumerate(self._members[1:], 1):
            if member is not None:
                rows = np.take(rows, member, axis=axis)
        return rows


def _rows(array: Array, rows: slice | Member) -> Array:
    """Rows of an array; np.take is quicker than an index."""
    return array[rows] if isinstance(rows, slice) else np.take(array, rows, axis=0)


def laid_out(small: Array, axes: Sequence[str], places: Mapping[str, Places], scaled: Sequence[str] = ()) -> LaidOut:
    """Return the array at its full size, of which nothing is made yet.

    axes: the names of the small array's axes.  places: by name, of those that are laid out.  scaled: the axes whose
    factors it is multiplied by.
    """
    members: list[Member | None] = []
    for axis, name in enumerate(axes):
        held = places.get(name)
        member = held.member if held else None
        if held and held.factor is not None and name in scaled:
            small, member = _times_factors(small, axis, held.member, held.factor)
        members.append(member)
    return LaidOut(small, members)


def _times_factors(small: Array, axis: int, member: Member, factor: NDArray[np.float32]) -> tuple[Array, Member]:
    """Return the array with every member of an axis times every factor that there is, and which stands where."""
    factors = np.unique(factor)
    times = [small * one.astype(small.dtype) for one in factors]
    return np.concatenate(times, axis=axis), np.searchsorted(factors, factor) * small.shape[axis] + member


def in_memory(value: Any) -> Any:
    """Return an argument as it is, or its arrays in memory where they are laid out."""
    if isinstance(value, list):
        return [in_memory(one) for one in value]
    return np.asarray(value) if isinstance(value, LaidOut) else value
