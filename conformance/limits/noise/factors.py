"""Of what factors a number is multiplied, and how small a partial product some order of them comes to.

A product y may be multiplied in any order; each step makes a partial product p of some of the factors, and the rest of
them, r = y / p, are still to come.  Two numbers say what an order can do (extremes.py says why these): `low`, the
smallest partial product, and `high`, the largest rest that a partial product can leave:

    no product         low = |x|                                  high = 1
    a product x * y    the least of low_x, low_y and              the largest of high_x * |y|, |x| * high_y and
                       low_x * low_y                              high_x * high_y
    a quotient x / y   as of the product x * (1 / y)
    a sum of terms t   the least low_t, or |sum|                  the root of the sum of high_t^2

A partial product of x * y has factors of x alone, of y alone, or of both.  A factor may be distributed over the terms
of a sum, whose roundings are independent.  What is zero is no product with a rest: its low is infinite, its high 0.

Both are computed only where the smallest factors there are, or the largest, could make a partial product that matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .precision import Floats

Extent = tuple[Floats, Floats]  # of every element: low and high
Bounds = tuple[float, float]


class Factors:
    """What the elements of an array are multiplied of.

    steps: the multiplications and divisions on the way.  bounds: no element's low is below the first, none of its high
    above the second, to within the number of terms of its sums.  extent: low and high of every element.  divided: one
    of the steps is a division.  rounded: the steps without those by one power of two, which round in no order.
    has_number: one of the factors is a single number for all elements, and no power of two.
    """

    rounded = 0
    has_number = False

    def __init__(
        self, steps: int, bounds: Callable[[], Bounds], extent: Callable[[], Extent], divided: bool = False
    ) -> None:
        self.steps = steps
        self.divided = divided
        self._bounds, self._extent = bounds, extent

    @cached_property
    def bounds(self) -> Bounds:
        return self._bounds()

    @cached_property
    def extent(self) -> Extent:
        with np.errstate(all="ignore"):
            return self._extent()

    def moved(self, move: Callable[[Floats], Any]) -> Factors:
        """The same after a function that only moves elements."""
        return self.become(lambda: (move(self.extent[0]), move(self.extent[1])), lambda: self.bounds)

    def become(self, extent: Callable[[], Extent], bounds: Callable[[], Bounds]) -> Factors:
        """Other numbers, made in the same steps."""
        other = Factors(self.steps, bounds, extent, self.divided)
        other.rounded, other.has_number = self.rounded, self.has_number
        return other


def alone(v: Floats) -> Factors:
    """Numbers that are no products."""

    def extent() -> Extent:
        size = np.abs(v)
        return np.where(size == 0, np.inf, size), np.where(size == 0, 0.0, 1.0)

    result = Factors(0, lambda: _bounds(v), extent)
    result.has_number = v.size == 1 and not _scales(v)
    return result


def _bounds(v: Floats) -> Bounds:
    """The least size that is not zero and the largest that is finite; at most 1, and at least."""
    size = np.abs(v)
    if v.size:
        low, high = float(np.minimum.reduce(size, axis=None)), float(np.maximum.reduce(size, axis=None))
        if low > 0 and high < np.inf:  # which NaN is not; most arrays are such, and this is the quicker way
            return min(low, 1.0), max(high, 1.0)
    smallest, largest = np.min(size, where=size > 0, initial=1.0), np.max(size, where=np.isfinite(size), initial=1.0)
    return float(smallest), float(largest)


def _either(parts: Iterable[Bounds]) -> Bounds:
    smallest, largest = zip(*parts, strict=True)
    return min(smallest), max(largest)


def product(x: Factors, y: Factors, v: Floats, w: Floats) -> Factors:
    """The products v * w of numbers with these factors."""

    def extent() -> Extent:
        (low, high), (other_low, other_high) = x.extent, y.extent
        lowest = np.minimum(np.minimum(low, other_low), low * other_low)
        return lowest, np.maximum(np.maximum(high * np.abs(w), np.abs(v) * other_high), high * other_high)

    result = Factors(x.steps + y.steps + 1, lambda: joint_bounds(x, y), extent, x.divided or y.divided)
    result.rounded = x.rounded + y.rounded + (not _scales(v) and not _scales(w))
    result.has_number = x.has_number or y.has_number
    return result


def _scales(v: Floats) -> bool:
    """Whether this is one number for all elements, and moves only their exponents."""
    return bool(v.size == 1 and abs(np.frexp(v.item())[0]) == 0.5)


def joint_bounds(x: Factors, y: Factors) -> Bounds:
    """What no partial product of factors of both is below, and above."""
    (low, high), (other_low, other_high) = x.bounds, y.bounds
    return min(low, other_low, low * other_low), max(high, other_high, high * other_high)


def quotient(x: Factors, v: Floats, w: Floats) -> Factors:
    """The quotients v / w; w is divided by as it is."""
    result = product(x, alone(1 / w), v, 1 / w)
    result.divided = True
    return result


def matrix_product(x: Factors, y: Factors, v: Floats, w: Floats, total: Floats) -> Factors:
    """The sums v @ w = total, by what is least and largest in each row and column."""

    def extent() -> Extent:
        (low, high), (other_low, other_high) = x.extent, y.extent
        row, column = least(low, -1), least(other_low, -2)
        lowest = np.minimum(np.minimum(row, column), np.minimum(row * column, alone(total).extent[0]))
        squares = most(high, -1) ** 2 * sum_squares(w, -2)
        squares = squares + (sum_squares(v, -1) + sum_squares(high, -1)) * most(other_high, -2) ** 2
        return lowest, np.sqrt(squares)

    steps, divided = x.steps + y.steps + 1, x.divided or y.divided
    return Factors(steps, lambda: _either([joint_bounds(x, y), _bounds(total)]), extent, divided)


def least(low: Floats, axis: int) -> Floats:
    """The least low along an axis, which stays; infinite where there is nothing, as in an expert without rows."""
    return np.asarray(np.min(low, axis=axis, keepdims=True, initial=np.inf))


def most(high: Floats, axis: int) -> Floats:
    """The largest high along an axis, which stays; 0 where there is nothing."""
    return np.asarray(np.max(high, axis=axis, keepdims=True, initial=0.0))


def sum_squares(x: Floats, axis: int) -> Floats:
    """The sums of squares along an axis, which stays."""
    return np.asarray(np.sum(np.square(x), axis=axis, keepdims=True))


def summed(x: Factors, add_up: Callable[[Floats], Floats], total: Floats) -> Factors | None:
    """The sums that `add_up` computes; None where their terms are no products.

    1 / sum(1 / low) is as good as the least low: it is never more, nor less by more than the number of terms.
    """
    if not x.steps:
        return None

    def extent() -> Extent:
        low, high = x.extent
        return 1 / (add_up(1 / low) + 1 / alone(total).extent[0]), np.sqrt(add_up(high**2))

    return x.become(extent, lambda: _either([x.bounds, _bounds(total)]))


def added(x: Factors, y: Factors, total: Floats) -> Factors | None:
    """The sums of two numbers each; None where neither is a product."""

    def extent() -> Extent:
        (low, high), (other_low, other_high) = x.extent, y.extent
        return np.minimum(np.minimum(low, other_low), alone(total).extent[0]), np.hypot(high, other_high)

    return _of_several([x, y], extent, lambda: _bounds(total))


def chosen(condition: Any, x: Factors, y: Factors) -> Factors | None:
    """Numbers that are x's where the condition holds, else y's; None where neither are products."""

    def extent() -> Extent:
        low, high = (np.where(condition, *pair) for pair in zip(x.extent, y.extent, strict=True))
        return low, high

    return _of_several([x, y], extent)


def joined(parts: Sequence[Factors], join: Callable[[list[Floats]], Floats]) -> Factors | None:
    """An array that is joined of others; None where none of them is of products."""

    def extent() -> Extent:
        low, high = (join([part.extent[which] for part in parts]) for which in (0, 1))
        return low, high

    return _of_several(parts, extent)


def _of_several(
    parts: Sequence[Factors], extent: Callable[[], Extent], whole: Callable[[], Bounds] = lambda: (1.0, 1.0)
) -> Factors | None:
    if not any(part.steps for part in parts):
        return None
    steps, divided = max(part.steps for part in parts), any(part.divided for part in parts)
    return Factors(steps, lambda: _either([whole(), *(part.bounds for part in parts)]), extent, divided)
