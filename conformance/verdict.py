"""The verdict on one output: does every element lie where an honest implementation's could?

Limits come from the expectation alone: each element may be off by 8 sigma and never by more than the worst case; the
rms of error / sigma may exceed 1 only as far as chance lets it; so may the mean.  How far that is depends on how many
independent errors stand behind the elements, which the noise numbers count (their `shared`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .noise import Noisy

SIGMAS = 8.0
# The worst case is a first-order bound; terms of second order add a share of about (number of roundings) * u to it.
SECOND_ORDER = 1 + 2.0**-10
# A formula may be arranged otherwise: a product distributed over a sum, a factor applied earlier or later.  What one
# arrangement rounds once another rounds in two parts of that size, so the worst case counts twice, unless there is but
# one rounding to count (then it is the square root of 3 sigma).
ARRANGEMENTS = 2.0
ONE_ROUNDING = 3**0.5 * SECOND_ORDER
# A mathematical function may be biased by as much as half its error allowance.
FUNCTION_BIAS = 0.5
BIAS_ELEMENTS = 32
FLOAT32_MAX = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Verdict:
    """What was found of one output; shares are of the limit, so that up to 1 passes."""

    output: str
    passed: bool
    reason: str  # "" where it passed
    elements: int
    wrong: int  # elements beyond their own limit
    share: float  # largest |error| / limit
    rms: float  # of error / sigma
    rms_limit: float
    bias: float  # mean of error / sigma
    bias_limit: float
    index: tuple[int, ...] = ()  # of the worst element
    expected: float = 0.0
    got: float = 0.0
    limit: float = 0.0
    made_of: str = ""  # what that limit is: "8 sigma", "worst case", "exact"
    region: str = ""


def judge(output: str, expected: Any, got: NDArray[Any], signed_zeros: bool = False) -> Verdict:
    """Judge one output; expected is a Noisy array, or a plain one that must be met bit for bit."""
    wanted = expected.v if isinstance(expected, Noisy) else np.asarray(expected)
    if got.shape != wanted.shape:
        return _refused(output, f"shape {got.shape}, expected {wanted.shape}", wanted.size)
    if not isinstance(expected, Noisy):
        return _judge_exact(output, wanted, got)
    return _judge_noisy(output, expected, got, signed_zeros)


def _refused(output: str, reason: str, elements: int) -> Verdict:
    return Verdict(output, False, reason, elements, elements, np.inf, np.inf, 1.0, np.inf, 1.0)


def _judge_exact(output: str, wanted: NDArray[Any], got: NDArray[Any]) -> Verdict:
    if got.dtype.kind != wanted.dtype.kind:
        return _refused(output, f"dtype {got.dtype}, expected {wanted.dtype}", wanted.size)
    return _summary(output, wanted, got, np.where(wanted == got, 0.0, np.inf), np.zeros(wanted.shape), "exact")


def _judge_noisy(output: str, expected: Noisy, got: NDArray[Any], signed_zeros: bool) -> Verdict:
    if got.dtype != np.float32:
        return _refused(output, f"dtype {got.dtype}, expected float32", expected.size)
    if not np.all(np.isfinite(expected.variance)):
        return _refused(output, "the expectation itself is unknown here (an intermediate result overflows)", got.size)
    special, misplaced = _special_values(expected.v, got, signed_zeros & (expected.variance == 0))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        error = np.where(special, 0.0, got.astype(np.float64) - expected.v)
        sigma = expected.sigma
        worst = _worst_case(expected, sigma)
        limit = np.minimum(SIGMAS * sigma, worst)
        share = np.where(error == 0, 0.0, np.abs(error) / limit)
        share = np.where(misplaced | np.isnan(share), np.inf, share)
        counted = ~special & (sigma > 0)
        z = np.where(error == 0, 0.0, error / sigma)[counted]
        common = (expected.shared / expected.variance)[counted]
    return _summary(output, expected.v, got, share, limit, _made_of(sigma, worst), z, common)


def _special_values(wanted: NDArray[Any], got: NDArray[Any], exact_zeros: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Where NaN, infinities (and signed zeros, where they count) are due or came; and where one is not met."""
    with np.errstate(over="ignore"):
        due = wanted.astype(np.float32)
    special = ~np.isfinite(due) | ~np.isfinite(got)
    met = (np.isnan(due) & np.isnan(got)) | (due == got)
    zeros = exact_zeros & (due == 0) & (got == 0)
    return special, (special & ~met) | (zeros & (np.signbit(due) != np.signbit(got)))


def _worst_case(expected: Noisy, sigma: NDArray[Any]) -> NDArray[Any]:
    if expected.worst is None:
        return np.full(sigma.shape, np.inf)
    single = expected.worst <= ONE_ROUNDING * sigma
    return expected.worst * np.where(single, SECOND_ORDER, ARRANGEMENTS * SECOND_ORDER)


def _made_of(sigma: NDArray[Any], worst: NDArray[Any]) -> NDArray[Any]:
    return np.where(sigma == 0, "exact", np.where(worst < SIGMAS * sigma, "worst case", "8 sigma"))


_NONE = np.zeros(0)


def _summary(
    output: str, wanted: Any, got: Any, share: Any, limit: Any, made_of: Any, z: Any = _NONE, common: Any = _NONE
) -> Verdict:
    alone = _alone(z, common, wanted)
    rms = float(np.sqrt(np.mean(z * z))) if z.size else 0.0
    bias = float(np.mean(z)) if z.size else 0.0
    rms_limit = float(np.sqrt(1 + (SIGMAS**2 - 1) * alone))
    bias_limit = FUNCTION_BIAS + SIGMAS * alone**0.5 if z.size >= BIAS_ELEMENTS else np.inf
    bad = share > 1
    worst = np.unravel_index(int(np.argmax(share)), share.shape) if share.size else ()
    reason = ""
    if bad.any():
        reason = f"{int(bad.sum())} of {bad.size} elements beyond their limit"
    elif rms > rms_limit:
        reason = f"rms of error / sigma is {rms:.3g}, above {rms_limit:.3g}"
    elif abs(bias) > bias_limit:
        reason = f"mean of error / sigma is {bias:.3g}, beyond {bias_limit:.3g}"
    return Verdict(
        output=output,
        passed=not reason,
        reason=reason,
        elements=int(share.size),
        wrong=int(bad.sum()),
        share=float(share[worst]) if share.size else 0.0,
        rms=rms,
        rms_limit=rms_limit,
        bias=bias,
        bias_limit=float(bias_limit),
        index=tuple(int(i) for i in worst),
        expected=float(wanted[worst]) if share.size else 0.0,
        got=float(got[worst]) if share.size else 0.0,
        limit=float(np.asarray(limit)[worst]) if share.size else 0.0,
        made_of=str(np.broadcast_to(made_of, share.shape)[worst]) if share.size else "",
        region=region(bad),
    )


def _alone(z: NDArray[Any], common: NDArray[Any], wanted: NDArray[Any]) -> float:
    """One over the number of independent errors; an average of squares over so many may be off by 8 sigma in each.

    Equal expectations err equally: they are told apart where an average is large enough to need it.
    """
    if not z.size:
        return 1.0
    count = z.size
    if np.mean(z * z) > 1 or abs(np.mean(z)) > FUNCTION_BIAS:
        count = min(count, np.unique(wanted).size)
    return min(1.0, float(np.mean(common)) + 1 / count)


def region(bad: NDArray[np.bool_]) -> str:
    """Say in words where the wrong elements lie: 'axis 0: 3 to 5; axis 1: all'."""
    if not bad.any() or bad.ndim == 0:
        return ""
    parts = []
    for axis, places in enumerate(np.nonzero(bad)):
        low, high = int(places.min()), int(places.max())
        whole = low == 0 and high == bad.shape[axis] - 1
        parts.append(f"axis {axis}: {'all' if whole else low if low == high else f'{low} to {high}'}")
    return "; ".join(parts)
