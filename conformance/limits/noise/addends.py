"""Sums of three numbers, which may be added in any order.

(a + b) + c rounds a + b; another order rounds a + c, or b + c, instead.  An honest one may round the largest of the
three (Higham 2002, "Accuracy and Stability of Numerical Algorithms", section 4.2).
"""

from __future__ import annotations

import numpy as np

from .number import Noisy
from .precision import Floats, roundings


def in_any_order(result: Noisy, x: Noisy, y: Noisy) -> Noisy:
    """Return x + y = result with what another order of their addends rounds more; it knows its own addends then."""
    if x.addends and y.addends:  # four or more: matrix products and sums count those
        return result
    for pair, other in ((x, y), (y, x)):
        if pair.addends:
            result = _reordered(result, pair, other)
    if not (x.addends or y.addends) and not (_is_zero(x) or _is_zero(y)):
        result.addends = (x.v, y.v)
    return result


def _is_zero(x: Noisy) -> bool:
    return x.ndim == 0 and not x.v


def _reordered(result: Noisy, pair: Noisy, other: Noisy) -> Noisy:
    first, second = pair.addends
    with np.errstate(all="ignore"):
        largest: Floats = np.maximum(np.abs(first + other.v), np.abs(second + other.v))
        done = np.abs(pair.v)
        more = (largest > done) & np.isfinite(largest) & (first != 0) & (second != 0) & (other.v != 0)
    if not more.any():
        return result
    unit = max(roundings().accumulator.unit, roundings().between.unit)
    reach = max(roundings().sum_reach, unit)
    variance = result.variance + np.where(more, unit * unit / 3 * (largest**2 - done**2), 0.0)
    worst = None if result.worst is None else result.worst + np.where(more, reach * largest, 0.0)
    return result.replaced(variance=variance, worst=worst)
