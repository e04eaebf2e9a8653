"""Sums and products of matrices on noise numbers.

A sum of n terms t in any order makes n - 1 roundings of its partial sums.  Their squares add up to at most about
n * (sum(t^2) / 2 + (sum t)^2 / 3): the first part is what partial sums of mean-zero terms make, the second what terms
of one sign make.  Terms below one rounding of the whole are not rounded at random but lost for certain in an order that
comes to them last; their sum counts in full.
"""

from __future__ import annotations

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


def _is_exact(terms: Noisy, sizes: Floats) -> Any:
    """Where a sum is exact in any order: exact integers whose partial sums all stay below 2^24."""
    if np.any(terms.variance) or not np.all(terms.v == np.rint(terms.v)):
        return np.zeros(np.shape(sizes), bool)
    return sizes <= MANTISSA


def total(x: Noisy, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Noisy:
    """Sum over axes."""

    def add_up(part: Floats) -> Floats:
        return np.asarray(np.sum(part, axis=axis, keepdims=keepdims))

    v, size = add_up(x.v), np.abs(x.v)
    n = add_up(((x.v != 0) | (x.variance > 0)).astype(np.float64))
    sizes = np.asarray(np.sum(size, axis=axis, keepdims=True))
    lost = add_up(np.where(size < sizes * current().unit, size, 0.0))
    if not keepdims:
        sizes = sizes.reshape(v.shape)
    sure = _is_exact(x, sizes)
    variance = add_up(x.variance) + np.where(sure, 0.0, _walk(n, add_up(x.v**2), v) + lost**2)
    worst = None
    if x.worst is not None:
        worst = add_up(x.worst) + np.where(sure | (n <= 1), 0.0, current().unit * n * sizes)
    return settled(v, variance, worst)


def mean(x: Noisy, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Noisy:
    """Sum over axes divided by the number of terms."""
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis)
    return divide(total(x, axis, keepdims), float(np.prod([x.shape[a] for a in axes])))


def cumulative(x: Noisy, axis: int) -> Noisy:
    """Running sums along one axis."""

    def run(part: Floats) -> Floats:
        return np.asarray(np.cumsum(part, axis=axis))

    v, n = run(x.v), run(np.ones_like(x.v))
    sizes = run(np.abs(x.v))
    sure = _is_exact(x, sizes)
    variance = run(x.variance) + np.where(sure, 0.0, _walk(n, run(x.v**2), v))
    worst = None if x.worst is None else run(x.worst) + np.where(sure | (n <= 1), 0.0, current().unit * n * sizes)
    return settled(v, variance, worst)


def segments(x: Noisy, starts: Any, axis: int = 0) -> Noisy:
    """Sums of the runs that begin at the given places (np.add.reduceat)."""

    def add_up(part: Floats) -> Floats:
        return np.asarray(np.add.reduceat(part, starts, axis=axis))

    v, n, sizes = add_up(x.v), add_up(np.ones_like(x.v)), add_up(np.abs(x.v))
    sure = _is_exact(x, sizes)
    variance = add_up(x.variance) + np.where(sure, 0.0, _walk(n, add_up(x.v**2), v))
    worst = None
    if x.worst is not None:
        worst = add_up(x.worst) + np.where(sure | (n <= 1), 0.0, current().unit * n * sizes)
    return settled(v, variance, worst)


def matmul(a: Any, b: Any) -> Noisy:
    """Matrix product: each product rounded once, then summed in any order."""
    x, y = lift(a), lift(b)
    xx, yy, ax, ay = x.v**2, y.v**2, np.abs(x.v), np.abs(y.v)
    finite = bool(np.isfinite(x.v).all() and np.isfinite(y.v).all())
    v, squares, sizes = x.v @ y.v, xx @ yy, ax @ ay
    n = _terms(x, y)
    u = current().unit
    sure = np.zeros(v.shape, bool)
    if not (np.any(x.variance) or np.any(y.variance)) and _whole(x.v) and _whole(y.v):
        sure = sizes <= MANTISSA
    variance = np.where(sure, 0.0, u * u / 3 * squares + _walk(n, squares, v))
    worst = None if x.worst is None or y.worst is None else np.where(sure, 0.0, u * n * sizes)
    if np.any(x.variance):
        variance = variance + x.variance @ yy
        worst = None if worst is None or x.worst is None else worst + x.worst @ ay
    if np.any(y.variance):
        variance = variance + xx @ y.variance
        worst = None if worst is None or y.worst is None else worst + ax @ y.worst
    if _is_gram(x, y):  # a sum of squares: both factors of a product err together
        variance = variance + 2 * (x.variance @ yy)
    if not finite:
        variance = np.where(np.isfinite(v), variance, 0.0)
    return settled(v, variance, worst)


def _is_gram(x: Noisy, y: Noisy) -> bool:
    """Whether a row is multiplied by itself as a column."""
    same = x.v.__array_interface__["data"] == y.v.__array_interface__["data"]
    return same and x.shape[-2:-1] == y.shape[-1:] == (1,)


def _whole(v: Floats) -> bool:
    return bool(np.all(v == np.rint(v)))


def _terms(x: Noisy, y: Noisy) -> Any:
    """How many products of each sum are not exactly zero."""
    a, b = (x.v != 0) | (x.variance > 0), (y.v != 0) | (y.variance > 0)
    if a.all() and b.all():
        return float(x.shape[-1])
    return a.astype(np.float64) @ b.astype(np.float64)
