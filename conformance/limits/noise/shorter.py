"""Roundings to shorter formats than the computation's: of a matrix product's factors, and of what is stored.

Tensor cores round factors before they multiply them.  That moves a factor x by at most u * |x|, with variance
u^2 / 3 * x^2; whether an implementation rounds x itself, or what it has first been scaled to, is open.  Equal digits
are rounded alike: where m terms of a sum have a factor of the same digits, their errors add up, and each counts m
times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .number import Noisy, settled, together
from .precision import FLOAT32, Floats, Precision, roundings, using


def as_factors(x: Noisy, y: Noisy) -> tuple[Noisy, Noisy]:
    """The factors of x @ y with the errors of their own rounding, where the arithmetic rounds them."""
    way = roundings()
    if way.intermediate:
        x, y = _erring_alike(x, -1), _erring_alike(y, -2)
    if way.inputs is None:
        return x, y
    return _rounded(x, -1, way.inputs, way.truncates_inputs), _rounded(y, -2, way.inputs, way.truncates_inputs)


def out_of_range(x: Noisy, y: Noisy, product: Floats) -> Floats:
    """Infinite variance for the sums with a factor past the largest number of the format, else 0."""
    way = roundings()
    if way.inputs is None:
        return np.zeros(())
    largest = way.inputs.largest
    rows = np.any(np.isfinite(x.v) & (np.abs(x.v) > largest), axis=-1, keepdims=True)
    columns = np.any(np.isfinite(y.v) & (np.abs(y.v) > largest), axis=-2, keepdims=True)
    unknown = rows | columns
    return np.where(unknown & np.isfinite(product), np.inf, 0.0)


def _erring_alike(x: Noisy, axis: int) -> Noisy:
    """The numbers of sums along the axis: steps before have rounded equal ones to one side."""
    return x.replaced(variance=x.variance * _alike(x.v, axis)) if x.variance.any() else x


def _rounded(x: Noisy, axis: int, format: Precision, truncates: bool) -> Noisy:
    """The numbers rounded once; sums run along the axis."""
    free = (x.variance == 0) & format.holds(x.v)
    if free.all():
        return x
    reach = np.where(free, 0.0, format.reach(x.v))
    variance = x.variance + reach**2 / 3 * _alike(x.v, axis)
    worst = None if x.worst is None else x.worst + reach * (2 if truncates else 1)
    return Noisy(x.v, variance, x.shared, worst, lean=together(x.lean, reach) if truncates else x.lean)


def stored(x: Noisy, format: Precision | None = None, drawn: Floats | None = None) -> Noisy:
    """A result as it is stored: rounded once more where the arithmetic's output is a shorter format.

    format: in which it is stored by declaration, to nearest even: of what is exact then only one number is right.
    drawn: what it is rounded to at random, where it is exact; where not, it may be off by a whole step, and the
    variance is twice as large: f (1 - f) is a sixth in the mean, the squared distance from the nearest a twelfth.
    """
    if format:
        x = _settled_on(x, nearest(x.v, format) if drawn is None else drawn)
    format = format or roundings().output
    if format is None:
        return x.in_memory()
    steps = 1.0 if drawn is None else 2.0
    if drawn is None and format is roundings().intermediate:  # the last step has stored what is not exact
        free = (x.variance > 0) | format.holds(x.v)
    else:
        free = (x.variance == 0) & format.holds(x.v)
    variance = x.variance + np.where(free, 0.0, steps * format.variance(x.v))
    worst = None if x.worst is None else x.worst + np.where(free, 0.0, steps * format.reach(x.v))
    with using(format):
        return settled(x.v, variance, x.shared, worst, x.lean)


def with_short_errors(x: Noisy) -> Noisy:
    """The same numbers, their errors rounded up to the digits of float32: kept, they take half the memory."""
    return x.replaced(variance=_rounded_up(x.variance), shared=_rounded_up(x.shared), worst=_rounded_up(x.worst))


def _rounded_up(errors: Any) -> Any:
    """Errors of so few digits, but those below the normal numbers of float32."""
    if errors is None or not np.any(errors):
        return errors
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        short = errors.astype(np.float32)
        short = np.where(short < errors, np.nextafter(short, np.float32(np.inf)), short).astype(np.float64)
    return np.where((errors > 0) & (errors < FLOAT32.smallest), errors, short)


def nearest(v: Floats, format: Precision) -> Floats:
    """The numbers of the format next to these, halfway the even ones; infinity past its range."""
    exponent = np.maximum(np.frexp(v)[1], np.frexp(format.smallest)[1])
    with np.errstate(invalid="ignore"):
        nearest = np.ldexp(np.rint(np.ldexp(v, format.bits + 1 - exponent)), exponent - format.bits - 1)
        return np.asarray(np.where(np.abs(nearest) > format.largest, np.copysign(np.inf, nearest), nearest))


def _settled_on(x: Noisy, rounded: Floats) -> Noisy:
    """The same numbers, those without an error rounded."""
    known = (x.variance == 0) & np.isfinite(x.v)
    return x.replaced(v=np.where(known, rounded, x.v))


def _alike(v: Floats, axis: int) -> Any:
    """For each number, how many along the axis have its digits, signs and powers of two apart."""
    with np.errstate(over="ignore"):
        digits = np.abs(np.frexp(v.astype(np.float32))[0]).astype(np.float64)
    lines = np.moveaxis(np.where(np.isfinite(digits), digits, 0.0), axis, -1)
    number = np.arange(lines[..., 0].size).reshape(*lines.shape[:-1], 1)  # digits are below 1: lines stay apart
    _, inverse, counts = np.unique(number + lines, return_inverse=True, return_counts=True)
    return np.moveaxis(counts[inverse].reshape(lines.shape), -1, axis)
