"""A full-size array of a small one: made part by part, since whole it takes up to 300 MB."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .places import Places

Array = NDArray[Any]
_BLOCK = 1 << 24  # bytes that are made at once, and kept to be taken rows from


class LaidOut:
    """The full-size array, of which nothing is held but the small one.

    axes: the names of the small array's axes.  places: by name, of those that are laid out.  scaled: the axes whose
    factors it is multiplied by.
    """

    def __init__(
        self, small: Array, axes: Sequence[str], places: Mapping[str, Places], scaled: Sequence[str] = ()
    ) -> None:
        self._small, self._axes, self._all, self._scaled = small, axes, places, scaled
        self._places = [places.get(name) for name in axes]
        laid_out = zip(self._places, axes, strict=True)
        self._factors = [held.factor if held and name in scaled else None for held, name in laid_out]
        known = zip(self._places, small.shape, strict=True)
        self.shape = tuple(held.member.size if held else length for held, length in known)
        self.dtype, self.size = small.dtype, math.prod(self.shape)

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
        if row_bytes > most:
            for row in range(self.shape[0]):
                yield from self._row(row).blocks(most)
            return
        wide = self._wide(self._small) if len(self._small) * row_bytes <= _BLOCK else None
        step = max(1, most // max(1, row_bytes))
        for start in range(0, self.shape[0], step):
            rows = np.arange(start, min(start + step, self.shape[0]))
            of = self._places[0].member[rows] if self._places[0] else rows
            part = self._wide(self._small[of]) if wide is None else wide[of]
            yield np.ascontiguousarray(self._times(part, 0, rows))

    def _row(self, row: int) -> LaidOut:
        of = self._places[0].member[row] if self._places[0] else row
        small = self._times(self._small[of : of + 1], 0, slice(row, row + 1))[0]
        return LaidOut(small, self._axes[1:], self._all, self._scaled)

    def _wide(self, rows: Array) -> Array:
        """Return rows of the small array, laid out along every axis but the first."""
        for axis, held in enumerate(self._places[1:], 1):
            if held:
                rows = self._times(np.take(rows, held.member, axis=axis), axis, slice(None))
        return rows

    def _times(self, part: Array, axis: int, index: Any) -> Array:
        """Multiply by an axis's factors; index: which of them."""
        factor = self._factors[axis]
        if factor is None:
            return part
        times: Array = part * factor[index].astype(part.dtype).reshape(-1, *[1] * (part.ndim - axis - 1))
        return times


def spread(small: Array, axes: Sequence[str], places: Mapping[str, Places], scaled: Sequence[str] = ()) -> Array:
    """Return the array at its full size; scaled: the axes whose factors it is multiplied by."""
    return np.asarray(LaidOut(small, axes, places, scaled))


def in_memory(value: Any) -> Any:
    """Return an argument as it is, or its arrays in memory where they are laid out."""
    if isinstance(value, list):
        return [in_memory(one) for one in value]
    return np.asarray(value) if isinstance(value, LaidOut) else value
