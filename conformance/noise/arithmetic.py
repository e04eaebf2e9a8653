"""The elementwise functions on noise numbers: derivative, rounding, and the honest error of the mathematical library.

Functions: an implementation may err by two units in the last place, the figure the CUDA programming guide and C
libraries state for float32 exp, log, sin and cos; its variance is taken as four roundings.  A quotient may be computed
through the reciprocal, so it counts two.  Where a small result may be flushed to zero, the smallest normal number counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .number import Noisy, lift, rounded, settled
from .precision import Floats, current

FUNCTION_ROUNDINGS = 4.0


def _both(x: Noisy, y: Noisy, f: Callable[[Floats, Floats], Floats]) -> Floats | None:
    return None if x.worst is None or y.worst is None else f(x.worst, y.worst)


def add(a: Any, b: Any) -> Noisy:
    x, y = lift(a), lift(b)
    nothing_added = (x.variance == 0) & (x.v == 0) | (y.variance == 0) & (y.v == 0)
    return rounded(x.v + y.v, x.variance + y.variance, _both(x, y, np.add), free=nothing_added)


def negative(a: Noisy) -> Noisy:
    return Noisy(-a.v, a.variance, a.worst)


def subtract(a: Any, b: Any) -> Noisy:
    return add(a, negative(lift(b)))


def _scales_exactly(x: Noisy) -> Any:
    """Where multiplying by x moves only the exponent: exact powers of two, and zero."""
    return (x.variance == 0) & (np.abs(np.frexp(x.v)[0]) % 0.5 == 0)


def _weighted(slope: Floats, error: Floats) -> Floats:
    """Slope times error, where an exact operand (error 0) adds nothing even at an infinite slope."""
    return np.where(error == 0, 0.0, slope * error)


def multiply(a: Any, b: Any) -> Noisy:
    x, y = lift(a), lift(b)
    if x is y:
        return square(x)
    v = x.v * y.v
    variance = _weighted(y.v**2, x.variance) + _weighted(x.v**2, y.variance)
    worst = _both(x, y, lambda p, q: _weighted(np.abs(y.v), p) + _weighted(np.abs(x.v), q))
    return rounded(v, variance, worst, free=_scales_exactly(x) | _scales_exactly(y))


def square(x: Noisy) -> Noisy:
    worst = None if x.worst is None else 2 * _weighted(np.abs(x.v), x.worst)
    return rounded(x.v**2, 4 * _weighted(x.v**2, x.variance), worst)


def divide(a: Any, b: Any) -> Noisy:
    x, y = lift(a), lift(b)
    q = x.v / y.v
    variance = _weighted(1 / y.v**2, x.variance + _weighted(q * q, y.variance))
    worst = _both(x, y, lambda p, r: _weighted(1 / np.abs(y.v), p + _weighted(np.abs(q), r)))
    return rounded(q, variance, worst, times=2, free=_scales_exactly(y))


def exp(x: Noisy) -> Noisy:
    """The argument may be scaled by log2(e) and rounded first, which costs a relative u * |x|."""
    y = np.exp(x.v)
    u, least = current().unit, current().smallest
    size = np.where(np.isfinite(x.v), np.abs(x.v), 0.0)
    own = u * u / 3 * (size**2 + FUNCTION_ROUNDINGS)
    lost = np.where((y < least) & np.isfinite(x.v), least, 0.0)
    worst = None if x.worst is None else _weighted(y, x.worst + u * (size + 4)) + lost
    # At x = 0 every library gives 1 exactly.
    sure = (x.variance == 0) & (x.v == 0)
    return settled(
        y,
        np.where(sure, 0.0, _weighted(y * y, x.variance + own) + lost**2),
        None if worst is None else np.where(sure, 0.0, worst),
    )


def log(x: Noisy) -> Noisy:
    worst = None if x.worst is None else _weighted(1 / np.abs(x.v), x.worst)
    return rounded(np.log(x.v), _weighted(1 / x.v**2, x.variance), worst, times=FUNCTION_ROUNDINGS)


def sqrt(x: Noisy) -> Noisy:
    """|sqrt(a + d) - sqrt(a)| <= sqrt(|d|) bounds the error where the derivative says too much (a near 0)."""
    y = np.sqrt(x.v)
    variance = np.minimum(_weighted(1 / (4 * np.abs(x.v)), x.variance), np.sqrt(x.variance))
    worst = None
    if x.worst is not None:
        worst = np.minimum(_weighted(1 / (2 * np.abs(y)), x.worst), np.sqrt(x.worst))
    return rounded(y, variance, worst, times=2)


def power(a: Any, b: Any) -> Noisy:
    """exp(b log a), the logarithm and the product rounded on the way: costs |b log a| roundings more."""
    if isinstance(b, (int, float)) and b == 2:
        return square(lift(a))
    x, y = lift(a), lift(b)
    v, logarithm = x.v**y.v, np.log(np.where(x.v > 0, x.v, 1.0))
    size = np.abs(y.v * logarithm)
    u = current().unit
    variance = _weighted((y.v / x.v) ** 2, x.variance) + _weighted(logarithm**2, y.variance)
    variance = variance + u * u / 3 * (2 * size**2 + 2 * FUNCTION_ROUNDINGS)
    worst = _both(x, y, lambda p, q: _weighted(np.abs(y.v / x.v), p) + _weighted(np.abs(logarithm), q))
    sure = (x.variance == 0) & (y.variance == 0) & ((y.v == 0) | (x.v == 1))
    variance = np.where(sure, 0.0, variance * v**2)
    return settled(v, variance, None if worst is None else np.where(sure, 0.0, (worst + u * (2 * size + 8)) * np.abs(v)))


def _circular(f: Callable[[Floats], Floats], slope: Callable[[Floats], Floats]) -> Callable[[Noisy], Noisy]:
    def function(x: Noisy) -> Noisy:
        u, d = current().unit, slope(x.v)
        sure = (x.variance == 0) & (x.v == 0)
        variance = np.where(sure, 0.0, _weighted(d * d, x.variance) + FUNCTION_ROUNDINGS * u * u / 3)
        worst = None if x.worst is None else np.where(sure, 0.0, _weighted(np.abs(d), x.worst) + 4 * u)
        return settled(f(x.v), variance, worst)

    return function


sin, cos = _circular(np.sin, np.cos), _circular(np.cos, np.sin)


def tanh(x: Noisy) -> Noisy:
    y = np.tanh(x.v)
    worst = None if x.worst is None else (1 - y * y) * x.worst
    return rounded(y, (1 - y * y) ** 2 * x.variance, worst, times=FUNCTION_ROUNDINGS)


def absolute(x: Noisy) -> Noisy:
    return Noisy(np.abs(x.v), x.variance, x.worst)


def where(condition: Any, a: Any, b: Any) -> Noisy:
    x, y = lift(a), lift(b)
    worst = _both(x, y, lambda p, q: np.where(condition, p, q))
    return Noisy(np.where(condition, x.v, y.v), np.where(condition, x.variance, y.variance), worst)


def maximum(a: Any, b: Any) -> Noisy:
    x, y = lift(a), lift(b)
    return where((x.v >= y.v) | np.isnan(x.v), x, y)


def minimum(a: Any, b: Any) -> Noisy:
    x, y = lift(a), lift(b)
    return where((x.v <= y.v) | np.isnan(x.v), x, y)


def by_value(function: np.ufunc) -> Callable[..., Any]:
    """Comparisons and tests look at the values alone and give plain arrays."""
    return lambda *inputs: function(*(i.v if isinstance(i, Noisy) else i for i in inputs))
