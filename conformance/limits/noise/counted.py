"""Sums of noise numbers in which a term may stand many times: without writing it out as often.

A term that stands m times is the same number with the same error m times, so the error that it comes with counts m^2
times in the variance; the roundings of the sum itself are those of all its terms (reductions.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .number import Noisy, exact, lift, settled
from .precision import Floats, roundings
from .reductions import _lean, _walk


def counted_sum(x: Any, counts: Any, axis: int = 0) -> Noisy:
    """Sum along an axis, its term i standing counts[i] times.

    x: noise numbers; counts: one whole number for each place of the axis.  The axis is gone from the result.
    """
    terms = lift(x).map(lambda part: np.moveaxis(part, axis, -1))
    column = exact(np.ones((terms.shape[-1], 1)))
    return counted_matmul(terms, column, np.asarray(counts, np.float64))[..., 0]


def counted_matmul(a: Any, b: Any, counts: Any) -> Noisy:
    """The product of matrices a (..., n) and b (n, m) in whose sums product i stands counts[..., i] times.

    Drift is a third of the square of the whole, which is what terms in no particular order leave (reductions.py); where
    the whole cancels, the walk of n terms of their mean square is what remains.
    """
    x, y = lift(a), lift(b)
    many = np.broadcast_to(np.asarray(counts, np.float64), x.shape)
    xx, yy, ax, ay = x.v**2, y.v**2, np.abs(x.v), np.abs(y.v)
    v, squared, sizes = (many * x.v) @ y.v, (many * xx) @ yy, (many * ax) @ ay
    n = (many * (ax > 0)) @ (ay > 0).astype(np.float64)
    partial = (squared + np.sqrt((many * xx**2) @ yy**2)) / 2 + v**2 / 3
    u = roundings().accumulator.unit
    products = np.zeros(()) if _are_ones(y) else u * u / 3 * ((many**2 * xx) @ yy)
    sure = n <= 1
    variance = products + np.where(sure, 0.0, _walk(n, partial)) + (many**2 * x.variance) @ yy
    variance = variance + (many**2 * xx) @ y.variance
    shared = (many**2 * np.maximum(x.shared, x.variance / max(1, x.v[..., 0].size))) @ yy
    shared = shared + (many**2 * xx) @ np.maximum(y.shared, y.variance / max(1, y.shape[-1]))
    return settled(v, variance, shared, _worst(x, y, many, n * sizes), _leaning(x, y, many, n, partial, sure))


def _are_ones(y: Noisy) -> bool:
    return bool(np.all(y.v == 1) and not np.any(y.variance))


def _worst(x: Noisy, y: Noisy, many: Floats, reach: Floats) -> Floats | None:
    if x.worst is None or y.worst is None:
        return None
    handed_on = (many * x.worst) @ np.abs(y.v) + (many * np.abs(x.v)) @ y.worst
    return np.asarray(handed_on + roundings().sum_reach * reach)


def _leaning(x: Noisy, y: Noisy, many: Floats, n: Floats, partial: Floats, sure: Any) -> Floats | None:
    handed_on = None
    if x.lean is not None:
        handed_on = (many * x.lean) @ np.abs(y.v)
    if y.lean is not None:
        handed_on = (many * np.abs(x.v)) @ y.lean + (0.0 if handed_on is None else handed_on)
    return _lean(n, partial, sure, handed_on)
