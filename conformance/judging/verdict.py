"""The verdict on one output: does every element lie where an honest implementation's could?

Each within its own limit (measure.py); and the rms of error / sigma may exceed 1 only as far as chance lets it; so may
the mean.  How far that is depends on how many independent errors stand behind the elements, which the noise numbers
count (their `shared`).  What an element may lean by is taken off its error first: chance has no part in it.

Elements of which nothing is known, since an order overflows or the header leaves them open, are passed over where the
caller says so: of designed cases, and of no others (bench.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.limits.measure import BIAS_ELEMENTS, FUNCTION_BIAS, SIGMAS, MadeOf, Measured, measure
from conformance.limits.noise import FLOAT32, SECOND_ORDER, Noisy, Precision, nearest

from .spans import Span, spans

__all__ = ["BIAS_ELEMENTS", "SECOND_ORDER", "SIGMAS", "UNKNOWN", "Verdict", "judge", "refused", "region"]


# The variance of z^2, z being the error of one rounding in sigma, which is uniform: E[z^4] - E[z^2]^2 = 9/5 - 1.  The
# squares of what many roundings make spread more, but they stay below sigma, which bounds any order (reductions.py).
VARIANCE_OF_SQUARES = 0.8
UNKNOWN = "nothing is known of what it must give (an order overflows, or the header leaves it open)"


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
    made_of: MadeOf | None = None  # what that limit is
    region: str = ""
    left_open: int = 0  # elements that nothing is known of
    same_bits: int | None = None  # elements that have the bits of the declared order over k, where there is one
    spans: tuple[Span, ...] = ()  # along each axis, where elements are beyond their limit


def judge(
    output: str,
    expected: Any,
    got: NDArray[Any],
    signed_zeros: bool = False,
    stored: Precision = FLOAT32,
    leaves_open: bool = False,
    drifting: Callable[[], Any] = lambda: None,
) -> Verdict:
    """Judge one output; expected is a Noisy array, or a plain one that must be met bit for bit.

    got: widened to float32 from the format that it is stored in.  leaves_open: whether elements of which nothing is
    known are passed over; else an output with such elements does not pass.  drifting: finds the same expectation where
    results lean by what sums drift in the mean, which is asked where the means of errors alone are beyond their limits.
    """
    wanted = expected.v if isinstance(expected, Noisy) else np.asarray(expected)
    if got.shape != wanted.shape:
        return refused(output, f"shape {got.shape}, expected {wanted.shape}", wanted.size)
    if not isinstance(expected, Noisy):
        return _judge_exact(output, wanted, got, signed_zeros)
    if not leaves_open and not np.all(np.isfinite(expected.variance)):
        return refused(output, UNKNOWN, got.size)
    return _judge_noisy(output, expected, got, signed_zeros, stored, drifting)


def refused(output: str, reason: str, elements: int) -> Verdict:
    """The verdict on an output that is none: of another shape or type, or not there."""
    return Verdict(output, False, reason, elements, elements, np.inf, np.inf, 1.0, np.inf, 1.0)


def _judge_exact(output: str, wanted: NDArray[Any], got: NDArray[Any], signed_zeros: bool) -> Verdict:
    if got.dtype.kind != wanted.dtype.kind:
        return refused(output, f"dtype {got.dtype}, expected {wanted.dtype}", wanted.size)
    return _summary(output, got, measure(wanted, got, signed_zeros))


def _judge_noisy(
    output: str, expected: Noisy, got: NDArray[Any], signed_zeros: bool, stored: Precision, drifting: Callable[[], Any]
) -> Verdict:
    if got.dtype != np.float32:
        return refused(output, f"dtype {got.dtype}, expected float32", expected.size)
    measured = measure(expected, got, signed_zeros)
    counted = measured.counted
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        by_chance = _less(measured.error, expected.lean)
        z = np.where(by_chance == 0, 0.0, by_chance / measured.sigma)[counted]
        common = (expected.shared / expected.variance)[counted]
    return _summary(
        output, got, measured, z, common,
        lambda: _last_roundings(measured, stored),
        lambda: _drift(drifting(), expected, measured),
    )  # fmt: skip


def _drift(drifting: Any, expected: Noisy, measured: Measured) -> float:
    """How far errors lean in the mean, in sigma, since terms of sums are lost below the last digit of these."""
    if not isinstance(drifting, Noisy) or drifting.lean is None:
        return 0.0
    if not np.array_equal(drifting.v, expected.v, equal_nan=True):  # what was expected follows the outputs' own choices
        return 0.0
    lean = drifting.lean if expected.lean is None else np.maximum(drifting.lean - expected.lean, 0.0)
    return float(np.mean(lean[measured.counted] / measured.sigma[measured.counted])) if measured.counted.any() else 0.0


def _last_roundings(measured: Measured, stored: Precision) -> NDArray[Any]:
    """By what rounding each result once errs, in sigma, which is no chance.

    What is rounded once errs by what the exact value says: at random as a rule, but numbers of few digits meet the
    middle between two of a format again and again, and half of its last digit is sqrt(3) sigma; and equal numbers err
    to one side.
    """
    wanted = measured.wanted[measured.counted]
    return np.asarray((nearest(wanted, stored) - wanted) / measured.sigma[measured.counted])


def _less(error: NDArray[Any], lean: NDArray[Any] | None) -> NDArray[Any]:
    """The errors nearer to zero by what they may lean."""
    if lean is None:
        return error
    return np.asarray(np.copysign(np.maximum(np.abs(error) - lean, 0.0), error))


_NONE = np.zeros(0)
_Last = Callable[[], NDArray[Any]]


def _summary(
    output: str, got: Any, measured: Measured, z: Any = _NONE, common: Any = _NONE, last: _Last = lambda: _NONE,
    drift: Callable[[], float] = lambda: 0.0,
) -> Verdict:  # fmt: skip
    wanted, share = measured.wanted, measured.share
    alone = _alone(z, common, measured)
    rms = float(np.sqrt(np.mean(z * z))) if z.size else 0.0
    bias = float(np.mean(z)) if z.size else 0.0
    chance = max((SIGMAS**2 - 1) * alone, SIGMAS * (VARIANCE_OF_SQUARES * alone) ** 0.5)
    rms_limit = float(np.sqrt(1 + chance))
    bias_limit = FUNCTION_BIAS + SIGMAS * alone**0.5 if z.size >= BIAS_ELEMENTS else np.inf
    if rms > rms_limit or abs(bias) > bias_limit:
        due = last()
        rms_limit = float(np.sqrt(chance + max(1.0, np.mean(due * due))))
        bias_limit += abs(float(np.mean(due)))
    bad = share > 1
    if not bad.any() and (rms > rms_limit or abs(bias) > bias_limit):
        drifts = drift()
        rms_limit, bias_limit = float(np.hypot(rms_limit, drifts)), bias_limit + drifts
    reach = spans(bad)
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
        limit=float(measured.limit[worst]) if share.size else 0.0,
        made_of=measured.made_of(worst) if share.size else None,
        region=region(reach),
        left_open=int(np.count_nonzero(measured.left_open)),
        spans=reach,
    )


def _alone(z: NDArray[Any], common: NDArray[Any], measured: Measured) -> float:
    """One over the number of independent errors.

    One of them may be off by 8 sigma, and an average of their squares by 8 of its own.

    Equal expectations err equally: they are told apart where an average is large enough to need it.  Where m_i of n
    are equal, their average varies as that of 1 / sum (m_i / n)^2 errors does.
    """
    if not z.size:
        return 1.0
    alone = 1 / z.size
    if np.mean(z * z) > 1 or abs(np.mean(z)) > FUNCTION_BIAS:
        equal = np.unique(measured.wanted[measured.counted], return_counts=True)[1]
        alone = float(np.sum(np.square(equal / z.size)))
    return min(1.0, float(np.mean(common)) + alone)


def region(found: Sequence[Span]) -> str:
    """Say in words where the wrong elements lie: 'axis 0: 3 to 5; axis 1: all'."""
    return "; ".join(f"axis {axis}: {_reach(span)}" for axis, span in enumerate(found))


def _reach(span: Span) -> str:
    if span.first == 0 and span.last == span.size - 1:
        return "all"
    return str(span.first) if span.first == span.last else f"{span.first} to {span.last}"
