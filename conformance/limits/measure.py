"""Every element's error beside what it may be.

Limits come from the expectation alone: each element may be off by 8 sigma beyond what it may lean by, and never by
more than the worst case.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .noise import ARRANGEMENTS, SECOND_ORDER, Noisy

Array = NDArray[Any]

SIGMAS = 8.0
ONE_ROUNDING = 3**0.5 * SECOND_ORDER  # what one rounding may come to, in its sigma


class MadeOf(StrEnum):
    """What an element's limit is made of."""

    EXACT = "exact"
    SIGMAS = "8 sigma"
    WORST_CASE = "worst case"


@dataclass(frozen=True)
class Measured:
    """Arrays of the output's shape."""

    wanted: Array
    error: Array  # what came less what is wanted; 0 where either is no number
    sigma: Array
    limit: Array
    share: Array  # |error| / limit; infinite where no error at all is allowed, or a NaN or infinity is not met
    special: Array  # where a NaN or an infinity is wanted or came
    left_open: Array  # where nothing is known of what is wanted: an order overflows, or the header leaves it open
    is_worst_case: Array  # where the limit is the worst case, and not 8 sigma

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Where the error is a number, in sigma."""
        return np.asarray(~self.special & ~self.left_open & (self.sigma > 0))

    def made_of(self, index: tuple[Any, ...]) -> MadeOf:
        """Return what the limit of one element is."""
        if self.sigma[index] == 0:
            return MadeOf.EXACT
        return MadeOf.WORST_CASE if self.is_worst_case[index] else MadeOf.SIGMAS


def measure(expected: Any, got: Array, signed_zeros: bool = False) -> Measured:
    """Measure an output of the right shape; expected is a Noisy array, or a plain one that must be met bit for bit."""
    if not isinstance(expected, Noisy):
        return _measure_exact(np.asarray(expected), got, signed_zeros)
    special, misplaced = _special_values(expected.v, got, signed_zeros & (expected.variance == 0))
    left_open = ~np.isfinite(expected.variance)
    limit, is_worst_case = limits(expected)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        error = np.where(special | left_open, 0.0, got.astype(np.float64) - expected.v)
        share = np.where(error == 0, 0.0, np.abs(error) / limit)
        share = np.where((misplaced | np.isnan(share)) & ~left_open, np.inf, share)
    return Measured(expected.v, error, expected.sigma, limit, share, special, left_open, is_worst_case)


def limits(expected: Noisy) -> tuple[Array, Array]:
    """Return what each element may be off by, and where that is the worst case (made_of)."""
    sigma = expected.sigma
    likely = SIGMAS * sigma if expected.lean is None else SIGMAS * sigma + expected.lean
    if expected.worst is None:
        return likely, np.zeros(sigma.shape, bool)
    single = expected.worst <= ONE_ROUNDING * sigma
    with np.errstate(over="ignore"):  # of what may overflow nothing is known
        worst = expected.worst * np.where(single, SECOND_ORDER, ARRANGEMENTS * SECOND_ORDER)
    return np.minimum(likely, worst), worst < likely


def made_of(sigma: Array, is_worst_case: Array) -> Array:
    """Return what limits are, a MadeOf each, as words; of one element Measured.made_of tells sooner."""
    return np.where(sigma == 0, MadeOf.EXACT, np.where(is_worst_case, MadeOf.WORST_CASE, MadeOf.SIGMAS))


def _measure_exact(wanted: Array, got: Array, signed_zeros: bool) -> Measured:
    nothing, never = np.zeros(wanted.shape), np.zeros(wanted.shape, bool)
    met = wanted == got
    if signed_zeros and wanted.dtype.kind == "f":
        met &= np.signbit(wanted) == np.signbit(got)
    share = np.where(met, 0.0, np.inf)
    return Measured(wanted, nothing, nothing, nothing, share, never, never, never)


def _special_values(wanted: Array, got: Array, exact_zeros: Any) -> tuple[Array, Array]:
    """Where NaN, infinities (and signed zeros, where they count) are due or came; and where one is not met."""
    with np.errstate(over="ignore"):
        due = wanted.astype(np.float32)
    special = ~np.isfinite(due) | ~np.isfinite(got)
    met = (np.isnan(due) & np.isnan(got)) | (due == got)
    zeros = exact_zeros & (due == 0) & (got == 0)
    return special, (special & ~met) | (zeros & (np.signbit(due) != np.signbit(got)))


# A mathematical function may be biased by as much as half its error allowance.
FUNCTION_BIAS = 0.5

BIAS_ELEMENTS = 32
