"""What one rounding costs: variance and worst case of a result's error, by the declared precision.

Model: the roundings of a computation are independent with mean zero (Higham and Mary 2019, "A new approach to
probabilistic rounding error analysis"); one of them moves a result y by at most u * |y|, with variance u^2 / 3 * y^2.

A rounding toward zero moves y by up to 2u * |y|, u * |y| in the mean, with the same variance about that mean.  Means
do not even out: they are counted apart, as what a result may `lean` by (number.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The worst case is a first-order bound; terms of second order add a share of about (number of roundings) * u to it.
SECOND_ORDER = 1 + 2.0**-10
# A formula may be arranged otherwise: a product distributed over a sum, a factor applied earlier or later.  What one
# arrangement rounds once another rounds in two parts of that size, so the worst case counts twice, unless there is but
# one rounding to count.
ARRANGEMENTS = 2.0


@dataclass(frozen=True)
class Precision:
    """A binary format: unit roundoff, the smallest normal number, and the largest finite one."""

    name: str
    unit: float
    smallest: float
    largest: float

    @property
    def bits(self) -> int:
        """Digits behind the leading one."""
        return -int(np.log2(self.unit)) - 1

    def variance(self, y: Floats) -> Floats:
        """Variance of rounding y once; below the smallest normal number the spacing no longer shrinks with y."""
        reach = self.reach(y)
        return reach * reach / 3

    def reach(self, y: Floats) -> Floats:
        """Largest error of rounding y once."""
        size = np.abs(y)
        reach: Floats = np.maximum(size, self.smallest) * self.unit
        free = (size == 0) | (size == np.inf)
        return np.where(free, 0.0, reach) if np.logical_or.reduce(free, axis=None) else reach

    def holds(self, y: Floats) -> NDArray[np.bool_]:
        """Say where y needs no rounding at all: a whole number of the format's steps, and in its range."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.unit <= FLOAT32.unit:  # of finer ones float64 cannot tell
                return np.equal(y.astype(np.float32), y)
            exponent = np.frexp(np.maximum(np.abs(y), self.smallest))[1]
            steps = np.ldexp(y, self.bits + 1 - exponent)
            return np.asarray(((np.rint(steps) == steps) & (np.abs(y) <= self.largest)) | ~np.isfinite(y))


def _format(name: str, bits: int, exponent: int) -> Precision:
    """A format of so many digits behind the leading one, whose exponents go up to `exponent`."""
    return Precision(name, 2.0 ** -(bits + 1), 2.0 ** (1 - exponent), (2 - 2.0**-bits) * 2.0**exponent)


FLOAT32 = _format("float32", 23, 127)
TF32 = _format("tf32", 10, 127)
FLOAT16 = _format("float16", 10, 15)
BFLOAT16 = _format("bfloat16", 7, 127)
FORMATS = {one.name: one for one in (FLOAT32, TF32, FLOAT16, BFLOAT16)}


class Cuts(Protocol):
    """What sums of n products cost on a matrix unit (cutting.py)."""

    @property
    def exact_unit(self) -> float:
        """The reciprocal of how many grains a sum holds exactly."""

    @property
    def least_factor(self) -> float | None:
        """The least normal number of the factors' format, where that is not the one they are stored in."""

    def variance(self, n: Any, partial: Any, largest: Any) -> Floats:
        """Variance of all cuts about their mean."""

    def lean(self, n: Any, partial: Any, largest: Any) -> Floats:
        """The most that the cuts' means come to."""

    def reach(self, n: Any, sizes: Any) -> Floats:
        """The most that all cuts come to."""


@dataclass(frozen=True)
class Arithmetic:
    """How one operation computes: the format of each of its roundings, by what is rounded."""

    working: Precision = FLOAT32  # results of elementwise steps
    accumulator: Precision = FLOAT32  # sums, those of matrix products among them
    inputs: Precision | None = None  # the factors of matrix products, rounded before they are multiplied; None: as is
    stored: Precision | None = None  # what those factors are stored in, where that has fewer digits than float32
    output: Precision | None = None  # what is stored, where that is rounded once more
    intermediate: Precision | None = None  # the array that each step of a formula hands to the next; None: as computed
    truncates: bool = False  # sums are rounded toward zero
    truncates_inputs: bool = False
    in_the_mean: bool = False  # matrix products lean by what their sums drift in the mean of all (unevenness.py)
    coarse: bool = False  # what comes in may err by as much as it is large: the first order does not say enough
    flushes: bool = False  # numbers below the smallest normal one may be taken as zero, and stored as zero
    flushes_products: bool = False  # the same, of matrix products alone: of their factors, sums and results
    functions: tuple[tuple[str, float], ...] = ()  # by how many units in the last place they may err, where declared
    cuts: Cuts | None = None  # a matrix unit that sums of products are formed by
    in_base_two: bool = False  # exp(a - b) may be 2^(a log2(e) - b log2(e)), of which each term is rounded

    @property
    def exact_unit(self) -> float:
        """The reciprocal of how many grains a sum holds exactly."""
        return max(self.accumulator.unit, self.cuts.exact_unit) if self.cuts else self.accumulator.unit

    @property
    def least_factor(self) -> float:
        """The least number that is normal in the format of the factors of matrix products; 0 in float32."""
        own = self.cuts.least_factor if self.cuts else None
        factors = self.inputs or self.stored
        return own or (factors.smallest if factors else 0.0)

    @property
    def between(self) -> Precision:
        """What a partial result may be stored in before another step reads it."""
        return self.intermediate or self.working

    @property
    def is_rough(self) -> bool:
        """Whether one step may err by so much of its result that terms of second order count."""
        return self.intermediate is not None or bool(self.functions)

    def units(self, function: str) -> float | None:
        """The units in the last place that a function may err by; None where nothing is declared of it."""
        return dict(self.functions).get(function)

    @property
    def errs_alike(self) -> bool:
        """Whether numbers of few digits are rounded to fewer: then many are equal, and equal ones err to one side."""
        return self.inputs is not None or self.intermediate is not None

    def last_rounding(self, stored: Precision) -> Precision:
        """The format that a result is rounded to at last, which has the fewest digits; stored: that of the array."""
        return max((self.output or stored, self.intermediate or stored, stored), key=lambda format: format.unit)

    @property
    def sum_reach(self) -> float:
        """The largest error of rounding a sum of size 1."""
        return self.accumulator.unit * (2 if self.truncates else 1)


_arithmetic = Arithmetic()


def roundings() -> Arithmetic:
    """Return what roundings are counted by."""
    return _arithmetic


def current() -> Precision:
    """Return the precision that elementwise roundings are counted in."""
    return _arithmetic.working


def of_products() -> Arithmetic:
    """Return what the roundings of matrix products are counted by where their unit takes subnormal numbers for zero."""
    return replace(_arithmetic, flushes=_arithmetic.flushes or _arithmetic.flushes_products, flushes_products=False)


@contextmanager
def using(way: Arithmetic | Precision) -> Iterator[None]:
    """Count roundings as the arithmetic has them; a precision alone: sums and elementwise results in it."""
    global _arithmetic
    before = _arithmetic
    _arithmetic = way if isinstance(way, Arithmetic) else Arithmetic(way, way)
    try:
        yield
    finally:
        _arithmetic = before
