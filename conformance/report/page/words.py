"""Numbers and states in the words and classes of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from conformance.judging.results import JUDGES_OWN, Result, Status
from conformance.limits.measure import SIGMAS, MadeOf

# What the worst of several results is, the worst first.
GRAVITY = (
    *JUDGES_OWN,
    Status.CRASHED,
    Status.TIMED_OUT,
    Status.FAIL,
    Status.NOT_RUN,
    Status.WAIVED,
    Status.TOO_FINE,
    Status.NOT_SUPPORTED,
    Status.PASS,
)


def gravest(results: Sequence[Result]) -> Status:
    """Return the status to show for several results."""
    found = {result.status for result in results}
    return next(status for status in GRAVITY if status in found)


def kind(status: Status) -> str:
    """Return the class that colours a status: good, bad or neither."""
    if status is Status.PASS:
        return "good"
    aside = (Status.WAIVED, Status.TOO_FINE, Status.NOT_SUPPORTED, Status.NOT_RUN)
    return "aside" if status in aside else "bad"


def used(share: float) -> str:
    """Return how much of a limit was used: 44 % of limit, 12 x limit."""
    return f"{used_short(share)}{' limit' if share > 1 else ' of limit'}" if math.isfinite(share) else "past any limit"


def used_short(share: float) -> str:
    """Return the same where it is clear what it is a share of: 44 %, 12 x."""
    if share > 1:
        return f"{_short(share)} x" if math.isfinite(share) else "past any"
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.2g} %"


def headroom(share: float) -> str:
    """Return by what factor the error could grow before it passed its limit."""
    if share > 1:
        return "none"
    return f"{_short(1 / share)} x" if share > 0 else "all of it"


def _short(value: float) -> str:
    return f"{value:.0f}" if 10 <= value < 10_000 else f"{value:.2g}"


def bar(share: float) -> int:
    """Return the length of a bar in percent; past the limit it is full."""
    return round(100 * min(1.0, share)) if share > 0 else 0


def limit_name(made_of: MadeOf) -> str:
    """Return what a limit is called, in words that can be read where they stand."""
    return _LIMITS[made_of]


_LIMITS = {
    MadeOf.SIGMAS: f"limit: {SIGMAS:.0f} sigma, standard deviations of honest rounding",
    MadeOf.WORST_CASE: "limit: the worst case of honest rounding",
    MadeOf.EXACT: "limit: exact, nothing is rounded here",
}
