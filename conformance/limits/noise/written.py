"""Products of factors that are subnormal in the format in which they are stored.

A matrix unit does not normalise such a factor: where it looks for the largest of its terms it takes x for max(|x|, N),
N the least normal number of the format (reference/tensor_core.py; an H100 was seen to).  So it cuts all terms to digits
of a product as large as its factors are written, which may be far above the product, and above all others.

The header lets a unit do so, whatever else it declares: where a product has a subnormal factor, sums may be formed as
the unit of the fewest digits does, sm_70's.  What that costs beside the roundings of float32 is what such products
alone make it lose; others are cut where float32 may round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .precision import Floats, roundings

SumOfProducts = Callable[[Floats, Floats], Floats]  # of two arrays of factors, as an operation pairs them


class Written(NamedTuple):
    """Sizes of the products that have a subnormal factor, as they are written: of all together, and the largest's
    square (no less than it: the root of their fourth powers)."""

    sizes: Floats
    largest: Floats

    def cuts_nothing(self, grain: float, unit: float) -> Any:
        """Whether a unit that keeps digits to `unit` of the largest one cuts nothing of multiples of the grain."""
        return np.sqrt(self.largest) * unit <= grain


def written(x: Floats, y: Floats, sums: SumOfProducts) -> Written | None:
    """Return what is written larger than it is, of factors x and y; None where nothing is.

    sums: adds up the products of what it is given in their place.
    """
    least = roundings().least_factor
    if not least:
        return None
    (x_small, x_other), (y_small, y_other) = _parts(np.abs(x), least), _parts(np.abs(y), least)
    if not (x_small.any() or y_small.any()):
        return None

    def of_power(power: int) -> Floats:
        return np.asarray(sums(x_small**power, (y_small + y_other) ** power) + sums(x_other**power, y_small**power))

    return Written(of_power(1), np.sqrt(of_power(4)))


def _parts(sizes: Floats, least: float) -> tuple[Floats, Floats]:
    """Subnormal numbers as they are written, and the others, each with zeros in the other's place."""
    small = (sizes > 0) & (sizes < least)
    return np.where(small, least, 0.0), np.where(small | ~np.isfinite(sizes), 0.0, sizes)
