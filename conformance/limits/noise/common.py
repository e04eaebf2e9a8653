"""Errors that all numbers of a row have in common.

Where a row is computed with a number of its own (the sum that it is divided by, the log-sum-exp or the mean that is
subtracted), the error of that number is in every element, times a slope that is known.  Elements taken one by one it is
but one error among theirs.  A sum over the row adds it up before it is squared: sum_j (c_j * y_j) squared, and not the
sum of the squares, c_j being the error in element j, with its sign.

Where several numbers are multiplied into an array, an order that multiplies them with each other first rounds what all
elements lean by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .factors import Factors
from .number import Noisy, together
from .precision import Floats, current, roundings


def keep(result: Noisy, *terms: tuple[Noisy, Any]) -> None:
    """Note in a result the errors that its rows have in common, from each (argument, slope)."""
    if roundings().coarse or not result.ndim or result.shape[-1] < 2:
        return
    if not any(x.in_common or (x.shape != result.shape and x.errs) for x, _ in terms):  # nothing is handed on
        return
    with np.errstate(all="ignore"):
        result.in_common = tuple(error for term in terms for error in _handed_on(result, *term))


def _handed_on(result: Noisy, x: Noisy, slope: Any) -> list[Floats]:
    if x.shape == result.shape:
        return [slope * error for error in x.in_common]
    if x.ndim == result.ndim and x.shape[-1] == 1 and x.errs:
        return [slope * x.sigma * np.ones(result.shape)]
    return []


def numbers_first(result: Noisy, x: Factors, y: Factors) -> None:
    """Let a product lean, in place, by the rounding of a number among x's factors times one among y's."""
    if result.size > 1 and x.has_number and y.has_number:
        result.lean = together(result.lean, current().reach(result.v))


def added_up(x: Noisy, weights: Floats) -> Floats | None:
    """By how much the variance of x @ weights exceeds that of independent errors; None where nothing is in common."""
    if not x.in_common:
        return None
    with np.errstate(all="ignore"):
        more = sum(np.square(error @ weights) - np.square(error) @ np.square(weights) for error in x.in_common)
    return np.where(np.isfinite(more), np.maximum(more, 0.0), 0.0)
