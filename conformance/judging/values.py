"""Of which values of an input a result is wrong: measured in one case, and said of several together.

What a kernel does past a bound of its own, or with zeros, NaN and infinities alone, shows in no place and no size: only
elements whose input lies there are wrong.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from enum import StrEnum
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from .spans import CHANCE

Numbers = NDArray[np.float64]
Hit = NDArray[np.bool_]
_DIGITS = 5  # of a bound, at most
_SHORT = 4  # of one that no right value helps to round
_MOSTLY = 4  # one in so many of the elements that lie there is wrong, at least
_HOLDS = 0.75  # in so many of the cases where the output is wrong, at least


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


_PLAIN: Mapping[Kind, Callable[[Numbers], Hit]] = {
    Kind.NAN: np.isnan,
    Kind.INFINITE: np.isinf,
    Kind.ZERO: lambda x: x == 0,
    Kind.NEGATIVE: lambda x: x < 0,
}
_AN_INPUT = "an input"  # which one it is varies
_NONE_SPREAD: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class Values:
    """How the values of an input lie at all the elements of an output that are wrong.

    low, high    of them, in size where the kind says so
    under, over  the nearest values that lie outside; NaN where none does
    different    how many values the wrong elements have, each a witness of its own: an element of the input is one
                 at however many places it stands
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


def values(
    output: str, bad: Hit, inputs: Mapping[str, Numbers], spread: Mapping[str, int] = _NONE_SPREAD
) -> Iterator[Values]:
    """Yield how the inputs' values lie where an output is wrong.

    bad: the wrong elements, of which there is one at least; inputs: of the output's shape, by name; spread: of an input
    with fewer elements than the output, at how many places of the output each stands, one behind the other.
    """
    each = {name: spread.get(name, 1) for name in inputs}
    for name, array in inputs.items():
        yield from _plain(output, name, bad, [(array, each[name])])
        yield from _bounded(output, name, bad, array)
    if len(inputs) > 1:
        yield from _plain(output, _AN_INPUT, bad, [(array, each[name]) for name, array in inputs.items()])


def _plain(output: str, name: str, bad: Hit, arrays: Sequence[tuple[Numbers, int]]) -> Iterator[Values]:
    """Of what one of the arrays holds: each element counts, as all have one value."""
    wrong, none = int(np.count_nonzero(bad)), (math.nan,) * 4
    for kind, test in _PLAIN.items():
        held = [(test(array), each) for array, each in arrays]
        either = functools.reduce(np.logical_or, (at for at, _ in held))
        if either[bad].all():
            inside = int(np.count_nonzero(either))
            yield Values(output, name, kind, *none, _witnesses(bad, held), wrong, inside, bad.size)


def _witnesses(bad: Hit, held: Sequence[tuple[Hit, int]]) -> int:
    """How many elements of the inputs it takes to account for all that is wrong: those at most places first."""
    count, left = 0, bad
    for at, each in sorted(held, key=lambda one: -one[1]):
        count += int(np.count_nonzero((left & at).reshape(-1, each).any(axis=1)))
        left = left & ~at
    return count


def _bounded(output: str, name: str, bad: Hit, array: Numbers) -> Iterator[Values]:
    for seen, kinds in (
        (array, (Kind.ABOVE, Kind.BELOW, Kind.BETWEEN)),
        (np.abs(array), (Kind.LARGE, Kind.SMALL, Kind.OF_SIZE)),
    ):
        at = seen[bad]
        if np.isnan(at).any():
            return
        different = int(np.unique(at).size)
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

    cases: of all that failed, of one output; one in which nothing is known of it is empty, and counted as one of which
    nothing is said.

    Nothing where chance may have brought it about, where most lies there, or where most of what lies there is right.
    """
    known = [case for case in map(list, cases) if case]
    by_way: dict[tuple[str, str, Kind], list[Values]] = {}
    for one in itertools.chain.from_iterable(known):
        by_way.setdefault((one.output, one.input, one.kind), []).append(one)
    often = [found for found in by_way.values() if len(found) >= _HOLDS * len(known) and _sets_apart(found)]
    certain = [found for found in often if _chance(found, len(known)) + math.log(len(by_way)) < math.log(CHANCE)]
    # Where one input tells, that there is one is less.
    found = min(certain, key=lambda one: (one[0].input == _AN_INPUT, _chance(one, len(known))), default=[])
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
    """The kind with its bounds; one that only a wrong value itself tells is said to be among what is wrong."""
    low, high = _reach(found)
    under = max((one.under for one in found if not math.isnan(one.under)), default=low)
    over = min((one.over for one in found if not math.isnan(one.over)), default=high)
    kind = _OPEN.get((found[0].kind, math.isinf(low), math.isinf(high)), found[0].kind)
    is_closed = kind not in _CLOSED  # an interval holds its bounds
    least, most = _parting(low, min(low, under), is_closed), _parting(high, max(high, over), is_closed)
    words = str(kind) if is_closed or (least if kind.has_low else most) else _CLOSED[kind]
    return words.format(
        found[0].input, low=least or _outwards(low, ROUND_FLOOR), high=most or _outwards(high, ROUND_CEILING)
    )


# An interval that ends at infinity has one bound.
_OPEN = {
    (Kind.BETWEEN, True, False): Kind.BELOW,
    (Kind.BETWEEN, False, True): Kind.ABOVE,
    (Kind.OF_SIZE, False, True): Kind.LARGE,
}
# What has one bound, where that is of what is wrong.
_CLOSED: Mapping[Kind, str] = {
    Kind.ABOVE: "{} is {low} or more",
    Kind.BELOW: "{} is {high} or less",
    Kind.LARGE: "|{}| is {low} or more",
    Kind.SMALL: "|{}| is {high} or less",
}


def _parting(wrong: float, right: float, is_closed: bool) -> str:
    """The roundest number between a wrong value and a right one beside it; nothing where there is none of few digits.

    It may be the right value, or where it is_closed the wrong one, but not the other.
    """
    low, high = sorted((wrong, right))
    not_it = right if is_closed else wrong
    tried = (f"{(low + high) / 2:.{digits}g}" for digits in range(1, _DIGITS + 1))
    fit = (text for text in tried if low <= float(text) <= high and float(text) != not_it)
    return next((text for text in fit if math.isfinite(float(text))), "")


def _outwards(bound: float, way: str) -> str:
    """A wrong value in few digits, none of which takes it out of what is said."""
    return f"{float(Context(prec=_SHORT, rounding=way).create_decimal(bound)) + 0.0:.{_SHORT}g}"
