"""Loss scaling: the loss is multiplied by a power of two, so that small gradients do not vanish in 16 bits.

The scale grows after many good updates and shrinks after one whose gradients are not finite (Micikevicius et al. 2018,
"Mixed precision training"); powers of two, so that scaling and unscaling change no bit of a float32 gradient.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from reference.arrays import check

_LEAST = 2.0**-126  # the smallest normal number of float32


class Scaler(NamedTuple):
    """Where loss scaling stands: the scale, the good updates since it changed last, the updates skipped so far."""

    scale: float
    good: int = 0
    skipped: int = 0


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """How the loss is scaled: times growth after `interval` good updates in a row, times backoff after a bad one.

    Raises ValueError, naming the field, for scales that are not powers of two or stand in the wrong order.
    """

    start: float = 2.0**16
    growth: float = 2.0
    interval: int = 2000
    backoff: float = 0.5
    floor: float = 1.0
    ceiling: float = 2.0**24

    def __post_init__(self) -> None:
        for name in ("start", "growth", "backoff", "floor", "ceiling"):
            value = getattr(self, name)
            power = math.isfinite(value) and value > 0 and math.frexp(value)[0] == 0.5
            check(power, "Scaling", name, "a power of two", value)
            check(_LEAST <= value <= 1 / _LEAST, "Scaling", name, "one that float32 holds, and its inverse", value)
        check(self.growth >= 1, "Scaling", "growth", "at least 1", self.growth)
        check(self.backoff <= 1, "Scaling", "backoff", "at most 1", self.backoff)
        check(self.interval >= 1, "Scaling", "interval", "at least 1", self.interval)
        within = self.floor <= self.start <= self.ceiling
        check(within, "Scaling", "start", f"from floor = {self.floor:g} to ceiling = {self.ceiling:g}", self.start)

    def begin(self) -> Scaler:
        """Where scaling starts."""
        return Scaler(self.start)

    def after(self, scaler: Scaler, finite: bool) -> Scaler:
        """Where it stands after an update whose gradients were finite, or were not."""
        if not finite:
            return Scaler(max(self.floor, scaler.scale * self.backoff), 0, scaler.skipped + 1)
        if scaler.good + 1 < self.interval:
            return scaler._replace(good=scaler.good + 1)
        return Scaler(min(self.ceiling, scaler.scale * self.growth), 0, scaler.skipped)


DYNAMIC = Scaling()
NONE = Scaling(start=1.0, growth=1.0, backoff=1.0)


def fixed(scale: float = 2.0**15) -> Scaling:
    """A scale that stays; updates whose gradients are not finite are skipped all the same."""
    return Scaling(start=scale, growth=1.0, backoff=1.0, floor=scale, ceiling=scale)
