"""The error function, which NumPy does not have, elementwise and in float64 throughout.

Rational approximations of W. J. Cody 1969, "Rational Chebyshev approximations for the error function" (Mathematics of
Computation 23), with the coefficients of his CALERF: erf near 0, exp(x^2) * erfc(x) to 4 and beyond.  erf errs
by up to 4 units in the last place, erfc by up to 8.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array, ieee

NEAR, FAR = 0.46875, 4.0  # where the three intervals meet
_INVERSE_ROOT_PI = 0.56418958354775628695
# Numerators and denominators, the highest power first; that of every denominator is 1.
_ERF = (
    (
        *(1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2),
        3.20937758913846947e3,
    ),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3),
)
_ERFC = (
    (
        *(2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1),
        *(2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3),
        1.23033935479799725e3,
    ),
    (
        *(1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3),
        *(3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
    ),
)
_ERFC_FAR = (  # of 1 / x^2
    (
        *(1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1),
        *(1.60837851487422766e-2, 6.58749161529837803e-4),
    ),
    (
        *(1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2),
        2.33520497626869185e-3,
    ),
)


class Function:
    """A function of one array that NumPy has not: array classes answer to it as they do to NumPy's own."""

    def __init__(self, implementation: Callable[[Array], Array]) -> None:
        self._implementation = implementation  # by this name ndarray's own __array_function__ finds it
        functools.update_wrapper(self, implementation)

    def __call__(self, x: Array) -> Array:
        if type(x) is np.ndarray or not hasattr(x, "__array_function__"):
            return self._implementation(x)
        return type(x).__array_function__(x, self, (type(x),), (x,), {})


def _in_float64(function: Callable[[Array], Array]) -> Function:
    """Compute in float64; what comes out has the type that went in."""

    @functools.wraps(function)
    @ieee
    def of(x: Array) -> Any:
        given = np.asarray(x)
        result = np.asarray(function(given.astype(np.float64)), given.dtype)
        return result.view(type(x)) if isinstance(x, np.ndarray) else result

    return Function(of)


@_in_float64
def erf(x: Array) -> Array:
    """2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""
    size = np.abs(x)
    return np.where(size <= NEAR, _near_zero(x), np.copysign(1.0 - _upper(size), x))


@_in_float64
def erfc(x: Array) -> Array:
    """1 - erf(x), without cancellation where erf(x) is near 1."""
    size = np.abs(x)
    upper = _upper(size)
    return np.where(size <= NEAR, 1.0 - _near_zero(x), np.where(x < 0, 2.0 - upper, upper))


def _near_zero(x: Array) -> Array:
    """erf up to NEAR; anything, NaN too, beyond."""
    return x * _ratio(_ERF, x * x)


def _upper(size: Array) -> Array:
    """erfc of what is not below NEAR; anything, NaN too, for smaller ones."""
    inverse = 1.0 / (size * size)
    beyond = (_INVERSE_ROOT_PI - inverse * _ratio(_ERFC_FAR, inverse)) / size
    return _exp_of_minus_square(size) * np.where(size <= FAR, _ratio(_ERFC, size), beyond)


def _exp_of_minus_square(size: Array) -> Array:
    """exp(-x^2), x in two parts: the square of the first, of few digits, is exact."""
    first = np.floor(np.minimum(size, 32.0) * 16.0) / 16.0  # past 32 the result is 0, however the rest comes out
    rest = size - first
    return np.exp(-first * first) * np.exp(-rest * (rest + 2.0 * first))


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    """The quotient of two polynomials."""
    above, below = (functools.reduce(lambda total, c: total * x + c, part) for part in coefficients)
    return above / below
