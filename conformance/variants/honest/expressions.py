"""Products and sums as their formula leaves them open, evaluated in an order drawn at random.

A formula says what is multiplied and added, not in which order: factors go together in any order, a division comes
first, last or as a reciprocal, a factor before a sum may go to each of its terms.  Two things are not open.  A sum of
more than one exact term may cancel to nothing without any error, so no factor goes to its terms.  (Where an inexact
term cancels another, its own error is as large as what a rounding of either costs.)  For the same reason no more than
one sum of a product is multiplied out: (x - m)^2 errs by 2 |x - m| times what m errs by, which is what a rounding of
x * (x - m) costs; x^2 - 2 x m + m^2 errs by a rounding of x^2.  And infinity propagates as in the formula:
inf * (1 - s) is infinite, inf - inf * s is not; and inf * (x * (1 - t * t)) is no number where t is 1, whatever is left
of x - x * t * t.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Factor: TypeAlias = "Floats | Sum | MatrixProduct"
SMALLEST = np.finfo(np.float32).tiny


@dataclass(frozen=True)
class Product:
    """Factors, over divisors."""

    factors: tuple[Factor, ...]
    divisors: tuple[Floats, ...] = ()

    def times(self, other: Product) -> Product:
        """Both together."""
        return Product(self.factors + other.factors, self.divisors + other.divisors)


@dataclass(frozen=True)
class Sum:
    """Terms; exact: how many of them are inputs as they came."""

    terms: tuple[Product, ...]
    exact: int


@dataclass(frozen=True)
class MatrixProduct:
    """left @ right, as computed; a number that it is multiplied by may go to either factor first."""

    left: Floats
    right: Floats
    value: Floats
    multiply: Any  # how these are multiplied: of two arrays


class Orders:
    """Draws orders, of one honest implementation.

    flushes: subnormal results of division, exp, log and power become zero, as the header allows; flushes_all: of every
    multiplication and addition too, as a contract may declare.
    """

    def __init__(self, seed: int, flushes_all: bool = False) -> None:
        self._source = np.random.default_rng(seed)
        self.flushes_all = flushes_all
        self.flushes = self.toss() or flushes_all

    def toss(self) -> bool:
        """Heads or tails."""
        return bool(self._source.integers(2))

    def shuffled(self, count: int) -> NDArray[Any]:
        """The numbers from 0 up, in any order."""
        return self._source.permutation(count)

    def pick(self, items: list[Any]) -> Any:
        """Take one out of a list."""
        return items.pop(int(self._source.integers(len(items))))

    def stored(self, result: Floats) -> Floats:
        """A result that the header lets be flushed."""
        return _flushed(result) if self.flushes else result

    def computed(self, result: Floats) -> Floats:
        """Any other result."""
        return _flushed(result) if self.flushes_all else result

    def value(self, product: Product) -> Floats:
        """Evaluate a product."""
        sums = [f for f in product.factors if isinstance(f, Sum) and f.exact < 2]
        if sums and self.toss() and all(np.all(np.isfinite(self._factor(f))) for f in product.factors):
            return self._distributed(product, self.pick(sums))
        matrices = [f for f in product.factors if isinstance(f, MatrixProduct)]
        numbers = [f for f in product.factors if isinstance(f, np.ndarray) and f.size == 1]
        if matrices and numbers and self.toss():
            return self._scaled(product, self.pick(matrices), self.pick(numbers))
        return self._multiplied(self._beside_infinity(product.factors), list(product.divisors))

    def total(self, whole: Sum) -> Floats:
        """Evaluate a sum."""
        values = [self.value(term) for term in whole.terms]
        while len(values) > 1:
            values.append(self.computed(self.pick(values) + self.pick(values)))
        return values[0]

    def _factor(self, factor: Factor) -> Floats:
        if isinstance(factor, Sum):
            return self.total(factor)
        return factor.value if isinstance(factor, MatrixProduct) else factor

    def _beside_infinity(self, factors: tuple[Factor, ...]) -> list[Floats]:
        """The values of factors; a sum's as its formula has it where another one is infinite, since it may be zero."""
        values = [self._factor(f) for f in factors]
        infinite = [np.isinf(value) for value in values]
        if not any(map(np.any, infinite)):
            return values
        beside = functools.reduce(np.logical_or, infinite)
        pairs = zip(factors, values, strict=True)
        return [np.where(beside, _as_written(f), value) if isinstance(f, Sum) else value for f, value in pairs]

    def _distributed(self, product: Product, over: Sum) -> Floats:
        others = _without(product.factors, over)
        rest = Product(tuple(self._factor(f) if isinstance(f, Sum) else f for f in others), product.divisors)
        return self.total(Sum(tuple(rest.times(term) for term in over.terms), over.exact))

    def _scaled(self, product: Product, matrix: MatrixProduct, number: Floats) -> Floats:
        left, right = matrix.left, matrix.right
        left, right = (left * number.reshape(()), right) if self.toss() else (left, right * number.reshape(()))
        rest = _without(_without(product.factors, matrix), number)
        return self.value(Product((*rest, matrix.multiply(left, right)), product.divisors))

    def _multiplied(self, values: list[Floats], divisors: list[Floats]) -> Floats:
        while len(values) > 1 or divisors:
            if divisors and (len(values) == 1 or self.toss()):
                divisor = self.pick(divisors)
                if self.toss():
                    values.append(self.stored(np.float32(1) / divisor))
                else:
                    values.append(self.stored(self.pick(values) / divisor))
            else:
                values.append(self.computed(self.pick(values) * self.pick(values)))
        return values[0]


def _as_written(factor: Factor) -> Floats:
    """What it is from left to right."""
    if isinstance(factor, Sum):
        return functools.reduce(np.add, map(_product_as_written, factor.terms))
    return factor.value if isinstance(factor, MatrixProduct) else factor


def _product_as_written(product: Product) -> Floats:
    whole = functools.reduce(np.multiply, map(_as_written, product.factors))
    return functools.reduce(np.true_divide, product.divisors, whole)


def _flushed(result: Floats) -> Floats:
    return np.where(np.abs(result) < SMALLEST, result * np.float32(0), result)


def _without(factors: tuple[Factor, ...], one: Factor) -> tuple[Factor, ...]:
    """All factors but this very one."""
    place = next(i for i, factor in enumerate(factors) if factor is one)
    return factors[:place] + factors[place + 1 :]
