"""Of which values of an input a result is wrong: measured in one case, and said of several together.

What a kernel does past a bound of its own, or with zeros, NaN and infinities alone, shows in no place and no size: only
elements whose input lies there are wrong.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from .spans import CHANCE

Numbers = NDArray[np.float64]
_DIGITS = 6  # of a bound, at most
_MOSTLY = 4  # one in so many of the elements that lie there is wrong, at least
_HOLDS = 0.75  # in so many of the cases, at least


class Kind(StrEnum):
    """How values lie: {} is the input, low and high are the bounds."""

    NAN = "{} is NaN"
    INFINITE = "{} is infinite"
    ZERO = "{} is 0"
    NEGATIVE = "{} is negative"
    ABOVE = "{} is above {low}"
    BELOW = "{} is below {high}"
    BETWEEN = "{} is {low} to {high}"
    LARGE = "|{}| is above {low}"
    SMALL = "|{}| is below {high}"
    OF_SIZE = "|{}| is {low} to {high}"

    @property
    def has_low(self) -> bool:
        """Whether it has a lower bound, which the wrong elements draw themselves."""
        return "{low}" in self

    @property
    def has_high(self) -> bool:
        """Whether it has an upper one."""
        return "{high}" in self


_PLAIN: Mapping[Kind, Callable[[Numbers], NDArray[np.bool_]]] = {
    Kind.NAN: np.isnan,
    Kind.INFINITE: np.isinf,
    Kind.ZERO: lambda x: x == 0,
    Kind.NEGATIVE: lambda x: x < 0,
}
_AN_INPUT = "an input"  # which one it is varies


@dataclass(frozen=True)
class Values:
    """How the values of an input lie at all the elements of an output that are wrong.

    low, high    of them, in size where the kind says so
    under, over  the nearest values that lie outside; NaN where none does
    different    how many values the wrong elements have, each with an input of its own
    wrong        how many elements are wrong, of `inside` whose input lies so, of `size`
    """

    output: str
    input: str
    kind: Kind
    low: float
    high: float
    under: float
    over: float
    different: int
    wrong: int
    inside: int
    size: int

    def __post_init__(self) -> None:
        """Raise ValueError on what no arrays have: a report may come from anywhere."""
        if not (0 < self.different <= self.wrong <= self.inside <= self.size):
            raise ValueError(f"expected wrong elements among those that lie so, got {self}")

    @property
    def unlikely(self) -> float:
        """The logarithm of 1 over the chance that so many values lie there by themselves."""
        return -self.different * math.log(self.inside / self.size)


def values(output: str, bad: NDArray[np.bool_], inputs: Mapping[str, Numbers]) -> Iterator[Values]:
    """Yield how the inputs' values lie where an output is wrong.

    bad: the wrong elements, of which there is one at least; inputs: of the output's shape, by name.
    """
    for name, array in inputs.items():
        yield from _plain(output, name, bad, [array])
        yield from _bounded(output, name, bad, array)
    if len(inputs) > 1:
        yield from _plain(output, _AN_INPUT, bad, list(inputs.values()))


def _plain(output: str, name: str, bad: NDArray[np.bool_], arrays: Sequence[Numbers]) -> Iterator[Values]:
    """Of what one of the arrays holds: each element counts, as all have one value."""
    wrong, none = int(np.count_nonzero(bad)), (math.nan,) * 4
    for kind, test in _PLAIN.items():
        held = functools.reduce(np.logical_or, map(test, arrays))
        if held[bad].all():
            yield Values(output, name, kind, *none, wrong, wrong, int(np.count_nonzero(held)), bad.size)


def _bounded(output: str, name: str, bad: NDArray[np.bool_], array: Numbers) -> Iterator[Values]:
    different = int(np.unique(array[bad]).size)
    for seen, kinds in (
        (array, (Kind.ABOVE, Kind.BELOW, Kind.BETWEEN)),
        (np.abs(array), (Kind.LARGE, Kind.SMALL, Kind.OF_SIZE)),
    ):
        at = seen[bad]
        if np.isnan(at).any():
            return
        low, high = float(at.min()), float(at.max())
        below, above = seen[seen < low], seen[seen > high]
        under = float(below.max()) if below.size else math.nan
        over = float(above.min()) if above.size else math.nan
        known = int(np.count_nonzero(~np.isnan(seen)))
        for kind in kinds:
            inside = known - kind.has_low * below.size - kind.has_high * above.size
            yield Values(output, name, kind, low, high, under, over, different, at.size, inside, seen.size)


def told(cases: Sequence[Iterable[Values]]) -> str:
    """Say how the values of one input lie wherever the results of several cases are wrong: "only where x is below -18".

    Nothing where chance may have brought it about, where most lies there, or where most of what lies there is right.
    """
    by_way: dict[tuple[str, str, Kind], list[Values]] = {}
    for case in cases:
        for one in case:
            by_way.setdefault((one.output, one.input, one.kind), []).append(one)
    often = [found for found in by_way.values() if len(found) >= _HOLDS * len(cases) and _sets_apart(found)]
    certain = [found for found in often if _chance(found, len(cases)) + math.log(len(by_way)) < math.log(CHANCE)]
    # Where one input tells, that there is one is less.
    found = min(certain, key=lambda one: (one[0].input == _AN_INPUT, _chance(one, len(cases))), default=[])
    some = "" if len(found) == len(cases) else f" in {len(found)} of {len(cases)} cases"
    return f"only where {_said(found)}{some}" if found else ""


def _sets_apart(found: Sequence[Values]) -> bool:
    """Whether fewer lie there than elsewhere, and enough of them are wrong: errors leave out zeros by themselves."""
    inside = sum(one.inside for one in found)
    return _MOSTLY * sum(one.wrong for one in found) >= inside and 2 * inside <= sum(one.size for one in found)


def _chance(found: Sequence[Values], cases: int) -> float:
    """The logarithm of the chance of what was found, of so many cases.

    Bounds are drawn by what lies at them: of as many uniform numbers as there are wrong values the share that lies on
    their side of the outermost one, to the power of their number, is uniform, so that logarithms add up to a gamma
    distribution.  A case whose values between its own bounds and the outermost ones are right says nothing of these.
    """
    kind, (low, high) = found[0].kind, _reach(found)
    telling = [
        one for one in found if not ((kind.has_low and one.under >= low) or (kind.has_high and one.over <= high))
    ]
    total, drawn = sum(one.unlikely for one in telling), (kind.has_low + kind.has_high) * len(telling)
    chosen = cases * math.log(2) if len(found) < cases else 0.0
    if not drawn or not total:
        return chosen - total
    logs = [place * math.log(total) - math.lgamma(place + 1) for place in range(drawn)]
    most = max(logs)
    return min(0.0, chosen - total + most + math.log(sum(math.exp(log - most) for log in logs)))


def _reach(found: Sequence[Values]) -> tuple[float, float]:
    return min(one.low for one in found), max(one.high for one in found)


def _said(found: Sequence[Values]) -> str:
    low, high = _reach(found)
    under = max((one.under for one in found if not math.isnan(one.under)), default=low)
    over = min((one.over for one in found if not math.isnan(one.over)), default=high)
    kind = _OPEN.get((found[0].kind, math.isinf(low), math.isinf(high)), found[0].kind)
    return kind.format(found[0].input, low=_round(low, min(low, under)), high=_round(high, max(high, over)))


# An interval that ends at infinity has one bound.
_OPEN = {
    (Kind.BETWEEN, True, False): Kind.BELOW,
    (Kind.BETWEEN, False, True): Kind.ABOVE,
    (Kind.OF_SIZE, False, True): Kind.LARGE,
}


def _round(bound: float, beside: float) -> str:
    """The roundest number between the bound and what lies beside it; the bound, where nothing does."""
    low, high = sorted((bound, beside))
    tried = (f"{(low + high) / 2:.{digits}g}" for digits in range(1, _DIGITS))
    found = next((text for text in tried if low <= float(text) <= high), "") if low < high else ""
    return found or f"{bound:.{_DIGITS - 2}g}"
