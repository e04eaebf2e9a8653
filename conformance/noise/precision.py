"""What one rounding costs: variance and worst case of a result's error, by the declared precision.

Model: the roundings of a computation are independent with mean zero (Higham and Mary 2019, "A new approach to
probabilistic rounding error analysis"); one of them moves a result y by at most u * |y|, with variance u^2 / 3 * y^2.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Precision:
    """A binary format: unit roundoff, the smallest normal number, and the largest finite one."""

    name: str
    unit: float
    smallest: float
    largest: float

    def variance(self, y: Floats) -> Floats:
        """Variance of rounding y once; below the smallest normal number the spacing no longer shrinks with y."""
        reach: Floats = np.maximum(np.abs(y), self.smallest) * self.unit
        return np.where((y == 0) | np.isinf(y), 0.0, reach * reach / 3)

    def reach(self, y: Floats) -> Floats:
        """Largest error of rounding y once."""
        return np.where((y == 0) | np.isinf(y), 0.0, np.maximum(np.abs(y), self.smallest) * self.unit)

    def holds(self, y: Floats) -> NDArray[np.bool_]:
        """Say where y needs no rounding at all."""
        with np.errstate(over="ignore"):
            return np.equal(y.astype(np.float32), y)


FLOAT32 = Precision("float32", 2.0**-24, 2.0**-126, float(np.finfo(np.float32).max))

_current = FLOAT32


def current() -> Precision:
    """Return the precision that roundings are counted in."""
    return _current


@contextmanager
def using(precision: Precision) -> Iterator[None]:
    """Count roundings in the given precision."""
    global _current
    before, _current = _current, precision
    try:
        yield
    finally:
        _current = before
