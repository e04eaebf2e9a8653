"""Elementwise functions on noise numbers: derivative, rounding, and the honest error of the mathematical library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference import special

from . import addends, common, extremes, factors
from .number import (
    LAST_BIT,
    REACH,
    Noisy,
    between_steps,
    doubted,
    given_up,
    lift,
    propagate,
    rounded,
    settled,
    together,
)
from .own_errors import FUNCTION_REACH, FUNCTION_ROUNDINGS, by_units, evaluated
from .precision import ARRANGEMENTS, SECOND_ORDER, Floats, current, roundings
from .scaled import scaled_first


def add(a: Any, b: Any) -> Noisy:
    x, y = lift(a), lift(b)
    nothing_added = _is_nothing(x) | _is_nothing(y)
    result = doubted(propagate(x.v + y.v, (x, 1.0), (y, 1.0)), lambda: unknown(x) | unknown(y))
    result = rounded(result, free=nothing_added, spread=LAST_BIT)
    for total, other in ((x, y), (y, x)):
        if total.terms is not None:  # also where they add up to nothing: their partial sums did not
            spared = 0.0 if total.spared is None else total.spared
            result = _as_first_term(result, other, np.where(_is_nothing(other), 0.0, total.terms), spared)
    result = addends.in_any_order(result, x, y)
    common.keep(result, (x, 1.0), (y, 1.0))
    return result.of_factors(factors.added(x.factors, y.factors, result.v))


def unknown(x: Noisy) -> Any:
    """Where nothing is known of a number."""
    return ~np.isfinite(x.variance)


def _is_nothing(x: Noisy) -> Any:
    """Where a number is exactly zero, and no sum: terms that cancel are rounded when another one comes before them."""
    zero = x.v == 0
    if not np.logical_or.reduce(zero, axis=None):
        return False
    alone = True if x.terms is None else x.terms <= 1
    return (x.variance == 0) & zero & alone


def _as_first_term(result: Noisy, first: Noisy, terms: Floats, spared: Floats | float) -> Noisy:
    """What was added to a sum may have been its first term, and have been rounded with every other."""
    way, size = roundings(), np.maximum(np.abs(first.v), np.abs(result.v)) + spared
    u, reach = way.accumulator.unit, way.sum_reach
    worst = None if result.worst is None else result.worst + reach * terms * size
    lean = together(result.lean, u * terms * size) if way.truncates else result.lean
    variance = result.variance + u * u / 3 * terms * size**2
    if way.cuts:
        variance, lean = (
            variance + way.cuts.variance(terms, size**2, 0.0),
            together(lean, way.cuts.lean(terms, size**2, 0.0)),
        )
        worst = None if worst is None else worst + way.cuts.reach(terms, size)
    if way.flushes_products:  # the first term, and each partial sum with it, by less than the smallest normal number
        lost = np.where(_is_nothing(first), 0.0, (terms + 1) * np.minimum(way.working.smallest, size))
        lean, worst = together(lean, lost), None if worst is None else worst + lost
    return settled(result.v, variance, result.shared, worst, lean)


def negative(x: Noisy) -> Noisy:
    result = Noisy(-x.v, x.variance, x.shared, x.worst, lean=x.lean).of_factors(x.made_of)
    result.addends, result.is_number = tuple(-part for part in x.addends), x.is_number
    result.in_common = tuple(-part for part in x.in_common)
    return result


def subtract(a: Any, b: Any) -> Noisy:
    return add(a, negative(lift(b)))


def _scales_exactly(x: Noisy) -> Any:
    """Where multiplying by x moves only the exponent: exact powers of two, and zero."""
    exact_ones = x.variance == 0
    if not np.logical_or.reduce(exact_ones, axis=None):
        return False
    digits = np.abs(np.frexp(x.v)[0])
    return exact_ones & ((digits == 0.5) | (digits == 0))


def multiply(a: Any, b: Any) -> Noisy:
    x, y = lift(a), lift(b)
    if x is y:
        return square(x)
    free = _scales_exactly(x) | _scales_exactly(y)
    below = extremes.of_product(x.factors, y.factors, x.v, y.v)
    spared = _spared(x) + _spared(y)
    by_y, by_x = _slopes(x, y)
    result = doubted(propagate(x.v * y.v, (x, by_y), (y, by_x)), lambda: unknown(x) | unknown(y))
    result = addends.multiplied_out(rounded(result, free=free, below=below, spared=spared), x, y)
    common.keep(result, (x, y.v), (y, x.v))
    common.numbers_first(result, x.factors, y.factors)
    result.of_factors(factors.product(x.factors, y.factors, x.v, y.v))
    result = extremes.of_infinities(result, x, y)
    for scaled, factor in ((x, y), (y, x)):
        if factor.ndim == 0:  # a sum times one number is a sum still
            result.terms = scaled.terms
            result.spared = None if scaled.spared is None else scaled.spared * np.abs(factor.v)
            if scaled.scalable is not None:
                scaled_first(result, scaled.scalable, factor, free)
    return result


def _slopes(x: Noisy, y: Noisy) -> tuple[Floats, Floats]:
    """By what an error of x, and one of y, is multiplied: by the other's value and, where that is lost in its own
    error, or errs by a share of it that counts, by all that this may come to."""
    if not (x.errs and y.errs):
        return y.v, x.v
    if roundings().is_rough:
        return np.abs(y.v) + y.reach, np.abs(x.v) + x.reach
    reaches = (REACH * y.sigma, REACH * x.sigma)
    by_y, by_x = (
        np.where(reach > np.abs(v), np.abs(v) + reach, v) for reach, v in zip(reaches, (y.v, x.v), strict=True)
    )
    return by_y, by_x


def _spared(x: Noisy) -> Any:
    """How many roundings a product was spared, since it came out exact."""
    steps = 0 if x.made_of is None else x.made_of.rounded
    return np.where(x.variance == 0, steps, 0) if steps else 0


def square(x: Noisy) -> Noisy:
    """Where the error may be as large as the number, what REACH sigma do counts, not what the slope says.

    So it is of a number less the mean of its row where all of the row are equal: what is left is the mean's error.
    """
    slope = 2 * x.v
    if roundings().is_rough:
        slope = 2 * np.abs(x.v) + x.reach
    elif x.errs:
        reach = REACH * x.sigma
        slope = np.where(reach > np.abs(x.v), 2 * np.abs(x.v) + reach, slope)
    result = rounded(propagate(x.v**2, (x, slope)), below=extremes.of_product(x.factors, x.factors, x.v, x.v))
    common.numbers_first(result, x.factors, x.factors)
    return result.of_factors(factors.product(x.factors, x.factors, x.v, x.v))


def divide(a: Any, b: Any) -> Noisy:
    x, y = lift(a), lift(b)
    q = x.v / y.v
    below = extremes.of_quotient(x.factors, x.v, y.v)
    least, lost = _least_divisor(y)
    result = given_up(propagate(q, (x, 1 / least), (y, q / least)), lost & np.isfinite(q))
    result = doubted(result, lambda: unknown(x) | unknown(y))
    scales = _scales_exactly(y)
    result = rounded(by_units("division", result, scales), times=2, free=scales, below=below)
    if not y.ndim and result.size > 1 and not np.all(scales):  # the reciprocal of one number is rounded once for all
        result.shared = result.shared + np.where(result.variance > 0, current().variance(result.v), 0.0)
    common.keep(result, (x, 1 / y.v), (y, -q / y.v))
    common.numbers_first(result, x.factors, factors.alone(y.v))
    if y.sum_of is x:
        result = _share(result)
    return result.of_factors(factors.quotient(x.factors, x.v, y.v))


def _least_divisor(y: Noisy) -> tuple[Floats, Any]:
    """The divisor that an error is divided by, and where it may be nothing at all: |x'/y' - x/y| is what x and y err
    by over y', which is less than y by as much as that may err."""
    if not roundings().is_rough or not y.errs:
        return y.v, False
    left = np.abs(y.v) - y.reach
    lost = (left <= 0) & (y.variance > 0)
    return np.copysign(np.where(lost, np.abs(y.v), left), y.v), lost


def _share(q: Noisy) -> Noisy:
    """Shares of a sum, such as the weights of softmax: they lie between 0 and 1, however much the terms err."""
    most = np.maximum(q.v, 1 - q.v)
    known = np.isfinite(q.variance)
    variance = np.where(known, np.minimum(q.variance, np.square(most / REACH)), np.inf)
    worst = None if q.worst is None else np.where(known, np.minimum(q.worst, most / ARRANGEMENTS), np.inf)
    result = Noisy(q.v, variance, np.minimum(q.shared, variance), worst, lean=q.lean)
    result.in_common = tuple(np.clip(error, -most / REACH, most / REACH) for error in q.in_common)
    return result


def _underflowing(x: Noisy, may: Any) -> Noisy:
    """Results below the smallest normal number may have been flushed to zero: all of them, or none."""
    lost = np.where(may & (np.abs(x.v) < current().smallest), current().smallest, 0.0)
    worst = None if x.worst is None else x.worst + lost
    return Noisy(x.v, x.variance + lost**2, x.shared + lost**2, worst, lean=x.lean)


def exp(x: Noisy) -> Noisy:
    """The argument may be scaled by log2(e) and rounded first, which costs a relative u * |x|; exp(0) is 1."""
    y, size = np.exp(x.v), _rounded_in_base_two(x)
    below = _below_all(x)
    if below.any():
        x = where(below, -np.inf, x)
    finite = np.isfinite(x.v)
    size = np.where(finite, size, 0.0)
    sure = (x.variance == 0) & (size == 0)
    result = evaluated("exp", _far(x, propagate(y, (x, y))), size, sure=sure)
    result = _underflowing(result, finite)
    common.keep(result, (x, y))
    return result


def _rounded_in_base_two(x: Noisy) -> Any:
    """What is rounded where x = a - b is scaled by log2(e): x or, where the arithmetic says so, each of its terms."""
    terms = x.addends if roundings().in_base_two and x.addends else (x.v,)
    return sum(map(np.abs, terms))


def _below_all(x: Noisy) -> Any:
    """Where a difference of two numbers is less than the least there is: as good as -inf, of which exp is 0."""
    largest = current().largest
    return (x.v < -largest) & (len(x.addends) == 2) & np.isfinite(x.v)


def _far(x: Noisy, y: Noisy) -> Noisy:
    """exp(x) = y where the slope says too little: what the whole error of x does counts, not its first order.

    That is so of scores in the thousands, and where factors are rounded to few digits of scores in the tens.
    """
    if not x.errs:
        return y
    reach = x.reach
    far = (reach >= SECOND_ORDER - 1) & np.isfinite(x.v)
    if not far.any():
        return y
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.exp(x.v + reach)
        most = np.where(far, np.where(reach < 1, np.exp(x.v) * np.expm1(reach), largest), 0.0)
        may_overflow = far & (largest > current().largest)
    variance = np.maximum(y.variance, np.square(most / REACH))
    worst = None if y.worst is None else np.maximum(y.worst, most / ARRANGEMENTS)
    return given_up(Noisy(y.v, variance, y.shared, worst, lean=y.lean), may_overflow)


def log(x: Noisy) -> Noisy:
    """Of what errs by more than its size, as a sum of exponentials may, the logarithm errs by the log of the factor."""
    y = propagate(np.log(x.v), (x, 1 / x.v))
    if x.errs:
        with np.errstate(divide="ignore", invalid="ignore"):
            sigma = _log_of_factor(REACH * y.sigma) / REACH
            worst = None if y.worst is None else _log_of_factor(ARRANGEMENTS * y.worst) / ARRANGEMENTS
        variance = np.square(sigma)
        y = y.replaced(variance=variance, shared=np.minimum(y.shared, variance), worst=worst)
    return evaluated("log", y)


def _log_of_factor(reach: Floats) -> Floats:
    """What a relative error moves a logarithm by: itself while it is small, and 1 + log of it where that is less."""
    return np.where(reach > 1, 1 + np.log(reach), reach)


def sqrt(x: Noisy) -> Noisy:
    """|sqrt(a + d) - sqrt(a)| <= sqrt(|d|) bounds the error where the derivative says too much (a near 0)."""
    y = propagate(np.sqrt(x.v), (x, 1 / (2 * np.sqrt(x.v))))
    worst = None if x.worst is None or y.worst is None else np.minimum(y.worst, np.sqrt(x.worst))
    lean = None if x.lean is None or y.lean is None else np.minimum(y.lean, np.sqrt(x.lean))
    root = Noisy(y.v, np.minimum(y.variance, np.sqrt(x.variance)), y.shared, worst, lean=lean)
    return rounded(by_units("sqrt", root), times=2)


def power(a: Any, b: Any) -> Noisy:
    """exp(b log a), the logarithm and the product rounded on the way: costs |b log a| roundings more.

    Of an infinite base or exponent it is 0, 1 or infinite, which nothing rounds.
    """
    if isinstance(b, (int, float)) and b == 2:
        return square(lift(a))
    x, y = lift(a), lift(b)
    v, logarithm = x.v**y.v, np.log(np.where(x.v > 0, x.v, 1.0))
    size = np.abs(y.v * logarithm)
    given = (x.variance == 0) & (y.variance == 0)
    sure = given & ((y.v == 0) | (x.v == 1) | np.isinf(x.v) | np.isinf(y.v))
    of_a, of_b = (np.where(sure, 0.0, slope) for slope in (v * y.v / x.v, v * logarithm))
    result = propagate(v, (x, of_a), (y, of_b))
    result = evaluated("pow", result, size, times=2, sure=sure)
    return _underflowing(result, (x.v != 0) & np.isfinite(v) & ~sure)


def _of_size_1(name: str, f: Callable[[Floats], Floats], slope: Callable[[Floats], Floats]) -> Callable[[Noisy], Noisy]:
    """Sine and cosine err by an absolute amount, their size being 1."""

    def function(x: Noisy) -> Noisy:
        return _absolute(name, x, propagate(f(x.v), (x, slope(x.v))), np.ones_like(x.v))

    return function


def _absolute(name: str, x: Noisy, y: Noisy, size: Floats, formula: float = 0.0) -> Noisy:
    """f(x) = y with the function's own error: the roundings of a number of that size and, to one side, what the formula
    is off by that it is computed by.  A declared error is in units of 1.  f(0) is exact where that is 0, or 1."""
    u = current().unit
    sure = (x.variance == 0) & (x.v == 0)
    if roundings().units(name) is None:
        own, reach = FUNCTION_ROUNDINGS * size**2, FUNCTION_REACH * size * u + formula
        y = y.replaced(lean=together(y.lean, np.where(sure, 0.0, formula))) if formula else y
    else:
        y, own, reach = by_units(name, y, sure, np.ones_like(size)), np.ones_like(size), np.zeros_like(size)
    variance = np.where(sure, 0.0, y.variance + own * u * u / 3)
    worst = None if y.worst is None else np.where(sure, 0.0, y.worst + reach)
    return between_steps(settled(y.v, variance, y.shared, worst, y.lean))


sin, cos = _of_size_1("sin", np.sin, np.cos), _of_size_1("cos", np.cos, np.sin)


def tanh(x: Noisy) -> Noisy:
    y = np.tanh(x.v)
    return evaluated("tanh", propagate(y, (x, 1 - y * y)))


_OFF_BY = 1.5e-7  # Abramowitz and Stegun 1964, "Handbook of mathematical functions", formula 7.1.26


def erf(x: Noisy) -> Noisy:
    """Libraries compute 1 + erf and 1 - erf as one, so four units of the larger of these are what it errs by.

    PyTorch's torch.erf is right to one unit.  Its GELU is not: measured against erfc, what it takes for erf errs by up
    to 12 u where erf is near 1 (a polynomial for 1 + erf, of oneDNN), and without oneDNN by up to 9.5 u where it is
    near 0 and in the mean by up to 2 u to one side, as formula 7.1.26 of Abramowitz and Stegun does in float32.
    """
    v = special.erf(x.v)
    slope = 2 / np.sqrt(np.pi) * np.exp(-np.square(x.v))
    return _absolute("erf", x, propagate(v, (x, slope)), 1 + np.abs(v), _OFF_BY)


def erfc(x: Noisy) -> Noisy:
    """1 - erf(x) may be computed as that: it errs by what erf does, however little is left where erf is near 1."""
    difference = subtract(1.0, erf(x))
    return difference.replaced(v=special.erfc(x.v))


def absolute(x: Noisy) -> Noisy:
    return Noisy(np.abs(x.v), x.variance, x.shared, x.worst, lean=x.lean).of_factors(x.made_of)


def where(condition: Any, a: Any, b: Any) -> Noisy:
    x, y = lift(a), lift(b)
    worst = None if x.worst is None or y.worst is None else np.where(condition, x.worst, y.worst)
    variance, shared = (np.where(condition, *pair) for pair in ((x.variance, y.variance), (x.shared, y.shared)))
    leans = [0.0 if part.lean is None else part.lean for part in (x, y)]
    lean = None if x.lean is None and y.lean is None else np.where(condition, *leans)
    result = Noisy(np.where(condition, x.v, y.v), variance, shared, worst, lean=lean)
    return result.of_factors(factors.chosen(condition, x.factors, y.factors))


def maximum(a: Any, b: Any) -> Noisy:
    x, y = lift(a), lift(b)
    return _either(where((x.v >= y.v) | np.isnan(x.v), x, y), x, y)


def minimum(a: Any, b: Any) -> Noisy:
    x, y = lift(a), lift(b)
    return _either(where((x.v <= y.v) | np.isnan(x.v), x, y), x, y)


def _either(result: Noisy, x: Noisy, y: Noisy) -> Noisy:
    """Of two that are as near as their errors, the larger or the smaller errs by as much as the one that errs more."""
    if not (x.errs or y.errs):
        return result
    with np.errstate(invalid="ignore"):
        near = np.abs(x.v - y.v) <= x.reach + y.reach
    if not near.any():
        return result
    variance, shared = (
        np.where(near, np.maximum(*pair), held)
        for *pair, held in ((x.variance, y.variance, result.variance), (x.shared, y.shared, result.shared))
    )
    worst = None
    if x.worst is not None and y.worst is not None and result.worst is not None:
        worst = np.where(near, np.maximum(x.worst, y.worst), result.worst)
    return result.replaced(variance=variance, shared=shared, worst=worst).of_factors(result.made_of)


def to_whole(function: np.ufunc, boundary: float) -> Callable[[Noisy], Noisy]:
    """Rounding to whole numbers is a decision: as near to the boundary between two as the noise is, either may come.

    boundary: where between whole numbers it lies; 1/2 for rint, 0 for trunc.
    """

    def rounding(x: Noisy) -> Noisy:
        distance = np.abs(np.remainder(x.v - boundary + 0.5, 1.0) - 0.5)
        reach = REACH * x.sigma + (0.0 if x.lean is None else x.lean)
        reach = reach if x.worst is None else np.minimum(reach, x.worst)
        open_ = (distance <= reach) & (x.variance > 0)
        worst = None if x.worst is None else np.where(open_, 1.0 + x.worst, 0.0)
        variance, shared = np.where(open_, 1.0 + x.variance, 0.0), np.where(open_, x.shared, 0.0)
        return Noisy(function(x.v), variance, shared, worst)

    return rounding


def by_value(function: np.ufunc) -> Callable[..., Any]:
    """Comparisons and tests look at the values alone and give plain arrays."""
    return lambda *inputs: function(*(i.v if isinstance(i, Noisy) else i for i in inputs))
