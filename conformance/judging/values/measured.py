"""How the values of an input lie where a result is wrong, measured in one case."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Hit = NDArray[np.bool_]


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
AN_INPUT = "an input"  # which one it is varies
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
        yield from _plain(output, AN_INPUT, bad, [(array, each[name]) for name, array in inputs.items()])


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
