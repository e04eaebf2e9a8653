"""Sums and products of matrices on noise numbers.

A sum of n terms t in any order makes n - 1 roundings of its partial sums.  Their squares add up to at most about
n * (sum(t^2) / 2 + (sum t)^2 / 3): the first part is what partial sums of mean-zero terms make, the second what terms
of one sign make.  Equal terms round alike, not independently: m of them count m^2 times.  Terms below one rounding of
the whole are not rounded at random but lost for certain in an order that comes to them last; their sum counts in full.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arithmetic import divide
from .number import Noisy, lift, settled
from .precision import Floats, current

MANTISSA = 2.0**24


def _walk(n: Any, squares: Floats, total: Floats) -> Floats:
    """Variance of the roundings of a sum of n terms, in any order."""
    u = current().unit
    return np.where(n > 1, u * u / 3 * n * (squares / 2 + total**2 / 3), 0.0)


def _whole(x: Noisy) -> bool:
    """Whether all are exact integers: sums of them are exact in any order while they stay below 2^24."""
    return not np.any(x.variance) and bool(np.all(x.v == np.rint(x.v)))


def _summed(x: Noisy, add_up: Callable[[Floats], Floats], extra: Floats | float, lost: Floats | float) -> Noisy:
    """A sum that `add_up` computes; `extra` terms are added to the count for terms that round alike."""
    v, sizes = add_up(x.v), add_up(np.abs(x.v))
    n = add_up(((x.v != 0) | (x.variance > 0)).astype(np.float64))
    sure = sizes <= MANTISSA if _whole(x) else n <= 1
    own = np.where(sure, 0.0, _walk(n + extra, add_up(x.v**2), v) + np.square(lost))
    worst = None if x.worst is None else add_up(x.worst) + np.where(sure, 0.0, current().unit * n * sizes)
    return settled(v, add_up(x.variance) + own, add_up(x.shared), worst)


def total(x: Noisy, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Noisy:
    """Sum over axes."""

    def add_up(part: Floats) -> Floats:
        return np.asarray(np.sum(part, axis=axis, keepdims=keepdims))

    size = np.abs(x.v)
    alike = add_up((size == np.max(size, axis=axis, keepdims=True, initial=0.0)).astype(np.float64))
    faint = size < np.sum(size, axis=axis, keepdims=True) * current().unit
    return _summed(x, add_up, alike * (alike - 1), add_up(np.where(faint, size, 0.0)))


def mean(x: Noisy, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Noisy:
    """Sum over axes divided by the number of terms."""
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis)
    return divide(total(x, axis, keepdims), float(np.prod([x.shape[a] for a in axes])))


def cumulative(x: Noisy, axis: int) -> Noisy:
    """Running sums along one axis."""
    return _summed(x, lambda part: np.asarray(np.cumsum(part, axis=axis)), 0.0, 0.0)


def segments(x: Noisy, starts: Any, axis: int = 0) -> Noisy:
    """Sums of the runs that begin at the given places (np.add.reduceat)."""
    return _summed(x, lambda part: np.asarray(np.add.reduceat(part, starts, axis=axis)), 0.0, 0.0)


def matmul(a: Any, b: Any) -> Noisy:
    """Matrix product: each product rounded once, then summed in any order."""
    x, y = lift(a), lift(b)
    if _is_gram(x, y):
        squares = total((x * x).reshape(-1))
        return squares.map(lambda part: part.reshape(*x.shape[:-1], y.shape[-1]))
    xx, yy, ax, ay = x.v**2, y.v**2, np.abs(x.v), np.abs(y.v)
    v, squared, sizes = x.v @ y.v, xx @ yy, ax @ ay
    n, u = _terms(x, y), current().unit
    sure = sizes <= MANTISSA if _whole(x) and _whole(y) else n < 1
    variance = np.where(sure, 0.0, u * u / 3 * squared + _walk(n, squared, v))
    shared = np.zeros_like(variance)
    worst = None if x.worst is None or y.worst is None else np.where(sure, 0.0, u * n * sizes)
    # An error in a row of x is in every column of the product, and the other way round.
    if np.any(x.variance):
        variance = variance + x.variance @ yy
        shared = shared + np.maximum(x.shared, x.variance / x.v[..., 0].size) @ yy
        worst = None if worst is None or x.worst is None else worst + x.worst @ ay
    if np.any(y.variance):
        variance = variance + xx @ y.variance
        shared = shared + xx @ np.maximum(y.shared, y.variance / y.v[..., 0, :].size)
        worst = None if worst is None or y.worst is None else worst + ax @ y.worst
    if not np.all(np.isfinite(v)):  # 0 times infinity among the errors of what is not finite anyway
        variance, shared = (np.where(np.isfinite(v), part, 0.0) for part in (variance, shared))
    return settled(v, variance, shared, worst)


def _is_gram(x: Noisy, y: Noisy) -> bool:
    """Whether a row is multiplied by itself as a column: a sum of squares, both factors of which err together."""
    same = x.v.__array_interface__["data"] == y.v.__array_interface__["data"]
    return same and x.size == y.size == x.shape[-1] == y.shape[-2]


def _terms(x: Noisy, y: Noisy) -> Any:
    """How many products of each sum are not exactly zero."""
    a, b = (x.v != 0) | (x.variance > 0), (y.v != 0) | (y.variance > 0)
    if a.all() and b.all():
        return np.float64(x.shape[-1])
    return a.astype(np.float64) @ b.astype(np.float64)
