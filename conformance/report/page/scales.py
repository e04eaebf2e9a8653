"""Logarithmic axes of a picture, in whole pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class LogAxis:
    """Powers of ten from `low` to `high`, drawn from pixel `start` to `end`; zeros have a place of their own."""

    low: int
    high: int
    start: int
    end: int
    zero: int

    @classmethod
    def over(cls, values: Iterable[float], start: int, end: int, zero: int) -> LogAxis:
        """Span the positive ones of the values."""
        positive = [value for value in values if 0 < value < math.inf]
        low = math.floor(math.log10(min(positive, default=1.0)))
        high = math.ceil(math.log10(max(positive, default=1.0)))
        return cls(low, max(high, low + 1), start, end, zero)

    def at(self, value: float) -> int:
        """The pixel of a value."""
        if value <= 0:
            return self.zero
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(self.start + (self.end - self.start) * min(1.0, share))

    def ticks(self, most: int = 4) -> Iterator[tuple[int, str]]:
        """Pixels and labels of some powers of ten."""
        step = max(1, math.ceil((self.high - self.low) / most))
        for power in range(self.low, self.high + 1, step):
            yield self.at(10.0**power), f"1e{power}" if abs(power) > 2 else f"{10.0**power:g}"
