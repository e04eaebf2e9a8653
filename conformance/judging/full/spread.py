"""Judges an output at full size by what is expected at the small one: every element within its own limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.cases.data import Draw
from conformance.catalogue.full.layout import laid_out
from conformance.catalogue.full.places import Places
from conformance.limits.measure import limits
from conformance.limits.noise import Noisy

Array = NDArray[Any]
_BLOCK = 1 << 20  # bytes looked at at once: their temporaries stay in cache
_SAMPLES = 2  # of the output, each with every small element once


@dataclass(frozen=True)
class Spread:
    """What an output must be: the expectation at the small size, and where each of its elements stands."""

    output: str
    expected: Any  # Noisy, or a plain array that must be met bit for bit
    axes: Sequence[str]
    places: Mapping[str, Places]
    scaled: Sequence[str] = ()  # the axes whose factors it is multiplied by
    names: Sequence[str] = ()  # what an index of each axis is called, where that is not the axis

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the full output."""
        known = (self.places.get(axis) for axis in self.axes)
        return tuple(p.member.size if p else n for p, n in zip(known, self.expected.shape, strict=True))

    @property
    def values(self) -> Array:
        """What is expected, without its errors."""
        return self.expected.v if isinstance(self.expected, Noisy) else np.asarray(self.expected)

    def unscaled(self, part: Array, index: Sequence[Array]) -> Array:
        """Return a part of the output as it would be without factors; index: where it lies on each axis."""
        for axis, name in enumerate(self.axes):
            factor = self.places[name].factor if name in self.scaled else None
            if factor is not None:
                part = part * (1 / factor[index[axis]]).reshape(-1, *[1] * (part.ndim - axis - 1))
        return part

    def member(self, axis: int, index: Array) -> Array:
        """Return which small places stand at these places of an axis."""
        known = self.places.get(self.axes[axis])
        return known.member[index] if known else index


def samples(due: Spread, got: Array, seed: int) -> Iterator[Array]:
    """Yield outputs of the small size, each element from one of its places."""
    for number in range(_SAMPLES):
        index = []
        for axis, name in enumerate(due.axes):
            known, draw = due.places.get(name), Draw(seed).of("sample", number, axis)
            index.append(known.one_of_each(draw) if known else np.arange(got.shape[axis]))
        yield np.ascontiguousarray(due.unscaled(got[np.ix_(*index)], index))


def _bounds(due: Spread) -> tuple[Array, Array]:
    """The least and the greatest number of the output's type that is within each limit."""
    values = due.values
    if not isinstance(due.expected, Noisy):
        return values, values
    limit = limits(due.expected)[0]
    with np.errstate(invalid="ignore", over="ignore"):
        exact = (limit == 0) | ~np.isfinite(values)
        low, high = (np.where(exact, values, values + side * limit) for side in (-1, 1))
        least, greatest = low.astype(np.float32), high.astype(np.float32)
        least = np.where(least < low, np.nextafter(least, np.float32(np.inf)), least)
        greatest = np.where(greatest > high, np.nextafter(greatest, np.float32(-np.inf)), greatest)
    return least, greatest


def beyond(due: Spread, got: Array) -> NDArray[np.bool_]:
    """Return where elements lie beyond their limit; a NaN does wherever it stands."""
    bad = np.zeros(got.size, bool)  # takes memory only where something is written
    flat, start = got.reshape(-1), 0
    bounds = (laid_out(bound, due.axes, due.places, due.scaled).blocks(_BLOCK) for bound in _bounds(due))
    for parts in zip(*bounds, strict=True):
        one, other = (part.reshape(-1) for part in parts)
        came = flat[start : start + one.size]
        with np.errstate(invalid="ignore"):
            least, greatest = (np.minimum(one, other), np.maximum(one, other)) if due.scaled else (one, other)
            within = (came >= least) & (came <= greatest)  # a factor may be negative
        if not within.all():
            np.logical_not(within, out=bad[start : start + one.size])
        start += one.size
    return bad.reshape(got.shape)
