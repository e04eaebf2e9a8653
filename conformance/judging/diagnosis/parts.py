"""Some places of a wrong output, in a row: what an explanation of what stands there is tried on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from conformance.limits.noise import FLOAT32, FORMATS, Noisy

from .failed import Array, Mask, Wrong
from .numbers import CHANCE

_FEW = 256


@dataclass(frozen=True)
class Part:
    """Some places of a wrong output, in a row: what should have come there, and what came."""

    wrong: Wrong
    at: Mask

    @cached_property
    def right(self) -> Any:
        return self.wrong.right[self.at]

    @cached_property
    def got(self) -> Array:
        return self.wrong.got[self.at]

    @property
    def is_noisy(self) -> bool:
        return isinstance(self.right, Noisy)

    @property
    def is_telling(self) -> bool:
        """Whether what is found here can hardly be chance: whole numbers of a few values often agree by accident."""
        return self.is_noisy or self.wrong.choices ** -float(self.got.size) < CHANCE

    @cached_property
    def usable(self) -> Mask:
        """Where numbers can be computed with."""
        return np.isfinite(self.values) & np.isfinite(self.got)

    @cached_property
    def values(self) -> Array:
        """What should have come, as plain float64 numbers."""
        return self.wrong.values[self.at]

    @cached_property
    def error(self) -> Array:
        """What came less what should have come, 0 where one of them is no number."""
        return np.where(
            self.usable, np.where(self.usable, self.got, 0.0) - np.where(self.usable, self.values, 0.0), 0.0
        )

    @cached_property
    def weight(self) -> Array:
        """One over the variance of the error that is due at each place, one rounding of what came among it."""
        own = FLOAT32.variance(np.where(self.usable, self.got, 0.0).astype(np.float64))
        due = own + (self.right.variance if self.is_noisy else 0.0)
        least = float(np.min(due[due > 0], initial=1.0, where=np.isfinite(due[due > 0]))) if (due > 0).any() else 1.0
        return np.where(self.usable & np.isfinite(due), 1.0 / np.maximum(due, least), 0.0)

    def rounds_to(self, number: float) -> bool:
        """Whether all that stands at this number is what bfloat16 may hold in place of the right ones."""
        there = self.got == number
        with np.errstate(invalid="ignore"):
            apart = np.abs(self.values[there] - number)
            return self.is_noisy and bool((apart <= FORMATS["bfloat16"].unit * np.abs(self.values[there])).all())

    def thinned(self) -> Part:
        """The same with few of its places: what does not hold there does not hold."""
        places = np.flatnonzero(self.at)
        if places.size <= _FEW:
            return self
        at = np.zeros(self.at.size, bool)
        at[places[np.linspace(0, places.size - 1, _FEW).astype(int)]] = True
        return Part(self.wrong, at.reshape(self.at.shape))

    def holds(self, explained: Any, got: Array | None = None) -> bool:
        """Whether what came (the first time, unless given) is what the explanation says, decided as a verdict is."""
        if not self.is_noisy:
            explained = np.asarray(explained)
            if explained.dtype.kind != self.got.dtype.kind:
                explained = np.where(np.isfinite(explained), np.rint(explained), 0).astype(self.got.dtype)
        return self.wrong.holds(explained, self.got if got is None else got)

    def fit(self, direction: Array, groups: Array | None = None) -> tuple[Array, Array]:
        """The multiple of `direction` that comes nearest to the error, and its variance; one for each group."""
        groups = np.zeros(self.got.size, np.int64) if groups is None else groups
        usable = np.isfinite(direction)
        d = np.where(usable, direction, 0.0)
        weight = np.where(usable, self.weight, 0.0)
        total = np.bincount(groups, weight * d * d)
        share = np.bincount(groups, weight * d * self.error)
        known = total > 0
        inverse = np.where(known, 1.0 / np.where(known, total, 1.0), 0.0)
        return share * inverse, inverse

    def shaped(self, array: Array) -> Array | None:
        """An input's values at these places, if it has the output's shape, its size, or its last axes."""
        shape = self.wrong.got.shape
        if array.size == self.wrong.got.size:
            return array.reshape(shape)[self.at]
        if array.ndim and array.shape == shape[len(shape) - array.ndim :]:
            return np.broadcast_to(array, shape)[self.at]
        if array.ndim and array.shape == shape[: array.ndim]:
            return np.broadcast_to(array.reshape(*array.shape, *[1] * (len(shape) - array.ndim)), shape)[self.at]
        return None
