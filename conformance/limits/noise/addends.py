"""Sums of three numbers, which may be added in any order, and of two that are multiplied, each perhaps by itself.

(a + b) + c rounds a + b; another order rounds a + c, or b + c, instead.  An honest one may round the largest of the
three (Higham 2002, "Accuracy and Stability of Numerical Algorithms", section 4.2), or one of the others where the
largest came out exact.  (a + b) * c rounds a + b and the
product; a * c + b * c rounds two products, which are larger than that where a and b cancel.
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
        result.is_number = _is_input(x) and _is_input(y)
    return result


def multiplied_out(result: Noisy, x: Noisy, y: Noisy) -> Noisy:
    """Return x * y = result with what is rounded more where the addends of one are multiplied by the other."""
    for pair, factor in ((x, y), (y, x)):
        if pair.addends and not pair.is_number:
            with np.errstate(all="ignore"):
                one, other = (np.abs(part * factor.v) for part in pair.addends)
                more = np.where((one > 0) & (other > 0), one**2 + other**2 - result.v**2, 0.0)
                more = np.where(np.isfinite(more), np.maximum(more, 0.0), 0.0)
            if more.any():
                result = _rounded_more(result, more, np.where(more > 0, one + other, 0.0))
    return result


def _rounded_more(result: Noisy, squares: Floats, sizes: Floats) -> Noisy:
    """The same numbers after roundings of results whose squares, and whose sizes, come to that."""
    unit = max(roundings().accumulator.unit, roundings().between.unit)
    worst = None if result.worst is None else result.worst + max(roundings().sum_reach, unit) * sizes
    return result.replaced(variance=result.variance + unit * unit / 3 * squares, worst=worst)


def _is_input(x: Noisy) -> bool:
    """Exact, and no product or sum that came out exact: an order that multiplies it out rounds it then."""
    return not x.errs and x.terms is None and not (x.made_of and x.made_of.steps)


def _is_zero(x: Noisy) -> bool:
    return x.ndim == 0 and not x.v


def _reordered(result: Noisy, pair: Noisy, other: Noisy) -> Noisy:
    first, second = pair.addends
    with np.errstate(all="ignore"):
        largest: Floats = np.maximum(_rounding(first, pair, other), _rounding(second, pair, other))
        done = np.where(pair.variance > 0, np.abs(pair.v), 0.0)
        more = (largest > done) & np.isfinite(largest) & (first != 0) & (second != 0) & (other.v != 0)
        more &= np.isfinite(result.v)  # a mask's -inf is that in every order
    if not more.any():
        return result
    last = np.where(result.variance == 0, np.abs(result.v), 0.0)  # exact in this order, but not what the other comes to
    squares, sizes = largest**2 - done**2 + last**2, largest + last
    return _rounded_more(result, np.where(more, squares, 0.0), np.where(more, sizes, 0.0))


def _rounding(part: Floats, pair: Noisy, other: Noisy) -> Floats:
    """The size of what one addend of the pair and the other number round to; 0 where all is exact, their sum too."""
    total = part + other.v
    free = (pair.variance == 0) & (other.variance == 0) & roundings().accumulator.holds(total)
    return np.where(free, 0.0, np.abs(total))
