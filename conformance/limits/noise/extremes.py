"""What an order of multiplication can lose at both ends of the range.

Rounding a partial product p errs by up to u * max(|p|, N), N the smallest normal number: below it the numbers' spacing
shrinks no further (Higham 2002, "Accuracy and Stability of Numerical Algorithms", section 2.1).  The factors that are
still to come, r = y / p, carry that error to u * max(|y|, N * |r|).  The first is what a rounding costs in every order.
The second is more only where p lies below N, and is most in the order that comes to the smallest p.  The step that
joins x and y rounds a partial product with factors of both: as small as low_x * low_y, with a rest of up to
high_x * high_y (factors.py).  An order may come to ones as small in each of its steps: then every step costs that.

Where a partial product may be flushed to zero it loses up to N instead of u * N, and nothing more is lost of what is
zero.  The header lets quotients be flushed, and a division may be the last step of any order; a contract may say it of
every number.  A library that does so does it everywhere, and always toward zero: such a loss is shared by all elements.

A result that is infinite since one of its factors is may be NaN where another partial product is lost.

The rest of one partial product is a partial product of other orders.  Where it passes the largest number an order may
come to infinity, and nothing is known of the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .factors import Extent, Factors, alone, joint_bounds, least, most, sum_squares
from .number import Noisy, given_up
from .precision import Floats, roundings

Loss = tuple[Floats, Floats, bool]  # variance and bound of an error; whether all elements have it or none


def of_product(x: Factors, y: Factors, v: Floats, w: Floats) -> Loss | None:
    """What joining v and w, of these factors, can lose; None where that is nothing beyond one rounding of v * w."""
    if x.steps + y.steps == 0:  # there is but one order
        return None
    return _loss(x, y, v, w, x.steps + y.steps + 1, x.divided or y.divided)


def of_quotient(x: Factors, v: Floats, w: Floats) -> Loss | None:
    """The same of v / w, where x are the factors of v: 1 / w may be a partial product by itself."""

    def extent() -> Extent:
        low, high = x.extent
        return np.minimum(low, 1.0), np.maximum(high, np.abs(v))

    return _loss(x.become(extent, lambda: x.bounds), alone(1 / w), v, 1 / w, x.steps + 1, True)


def _loss(x: Factors, y: Factors, v: Floats, w: Floats, steps: int, may_flush: bool) -> Loss | None:
    if not _reach_an_end(x, y):
        return None
    (low, high), (other_low, other_high) = x.extent, y.extent
    with np.errstate(all="ignore"):
        rest = high * other_high
        largest = np.maximum(rest, np.maximum(high * np.abs(w), np.abs(v) * other_high))
        lost = np.where(low * other_low < roundings().between.smallest, rest, 0.0)
        lost = np.where(largest > roundings().between.largest, np.inf, lost)
    return _counted(np.square(lost), lost, steps, may_flush)


def _reach_an_end(x: Factors, y: Factors) -> bool:
    """Whether a partial product of factors of both may lie outside the normal numbers."""
    low, high = joint_bounds(x, y)
    return low < roundings().between.smallest or high > roundings().between.largest


def of_matrix_product(x: Factors, y: Factors) -> Loss | None:
    """The same of every sum of a matrix product, with all its products: of each the first step, too."""
    if not _reach_an_end(x, y):
        return None
    (low, high), (other_low, other_high) = x.extent, y.extent
    with np.errstate(all="ignore"):
        smallest = least(low, -1) * least(other_low, -2)
        squares = sum_squares(high, -1) * most(other_high, -2) ** 2
        squares = np.where(smallest < roundings().between.smallest, squares, 0.0)
    rests = np.sqrt(high.shape[-1] * squares)  # no less than their sum
    return _counted(squares, rests, x.steps + y.steps + 1, x.divided or y.divided)


def _counted(squares: Floats, rests: Floats, steps: int, may_flush: bool) -> Loss | None:
    """A loss, by the sums of all rests and of their squares."""
    if not np.any(rests):
        return None
    smallest, unit = roundings().between.smallest, roundings().between.unit
    if may_flush or roundings().flushes:
        return smallest**2 * squares, steps * smallest * rests, True
    return steps / 3 * (unit * smallest) ** 2 * squares, steps * unit * smallest * rests, False


def of_infinities(result: Noisy, x: Noisy, y: Noisy) -> Noisy:
    """x * y = result, given up where it is infinite and an order may come to infinity times zero, which is NaN.

    That is where a partial product of the other factors may have been rounded or flushed to zero.
    """
    infinite = np.isinf(result.v)
    if not infinite.any():
        return result
    made_of = result.factors
    flushes = made_of.divided or roundings().flushes
    format = roundings().between
    lowest = format.smallest * (1.0 if flushes else format.unit)
    with np.errstate(invalid="ignore"):
        lost = made_of.extent[0] <= lowest
        for part in (x, y):
            lost = lost | _may_vanish(part)
    return given_up(result, infinite & lost)


def of_infinities_in_sums(result: Noisy, x: Noisy, y: Noisy) -> Noisy:
    """x @ y = result, given up where infinity is multiplied by what may come to zero, or to the other sign, and no term
    is NaN for sure."""
    infinite = [np.isinf(part.v) for part in (x, y)]
    if not (infinite[0].any() or infinite[1].any()):
        return result
    lost = _may_vanish(x).astype(np.float64) @ infinite[1].astype(np.float64)
    lost = lost + infinite[0].astype(np.float64) @ _may_vanish(y).astype(np.float64)
    missing = np.isnan(x.v).any(axis=-1, keepdims=True) | np.isnan(y.v).any(axis=-2, keepdims=True)
    return given_up(result, (lost > 0) & ~np.isfinite(result.v) & ~missing)


def _may_vanish(x: Noisy) -> Any:
    """Where a number that is not zero may be, by its error."""
    with np.errstate(invalid="ignore"):
        return (x.v != 0) & ((0.0 if x.worst is None else x.worst) >= np.abs(x.v))
