"""Calls aimed at an outcome of a comparison that was not seen yet.

Where code compares 33 with n % 96 and n was 100, n = 129 makes them equal: whatever is compared grows with an argument
as often as not, so that an argument is changed by what was missing (input-to-state correspondence: Aschermann et al.
2019, REDQUEEN).  Equal, one less and one more are each aimed at: that is either side of every border.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from conformance.candidates.worker.coverage import Comparison
from conformance.catalogue.design.space import space_of

from .draw import Call, is_any_number, is_free, is_possible

_FARTHEST = 1 << 20  # no argument is changed by more: what was compared is an address, or data
_BASES = 6  # calls from which one outcome is aimed at
_NEAR = 1 / 16  # how far beside a constant that is no whole number a value is called one less or one more

Aim: TypeAlias = tuple[int, int]  # the place of a comparison, and the sign of value - constant


@dataclass(order=True)
class _Base:
    """A call that made a comparison; a cheap one leaves room for an argument to grow."""

    cost: float
    number: int  # in the order in which they were made
    call: Call = field(compare=False)
    comparison: Comparison = field(compare=False)


@dataclass
class _Attempts:
    """What is tried for an aim: the calls from one base that are left, bases that were not used, how many were."""

    bases: list[_Base]
    left: list[Call] = field(default_factory=list)
    used: int = 0
    made: int = 0


class Aims:
    """The outcomes of an operation's comparisons that no call has shown yet."""

    def __init__(self) -> None:
        self._seen: dict[int, set[int]] = {}
        self._attempts: dict[Aim, _Attempts] = {}
        self._number = 0
        self._made: set[str] = set()  # rows

    def note(self, comparisons: Sequence[Comparison], call: Call | None) -> None:
        """Learn what a call compared; others are aimed from it where it is a row of factors."""
        cost = space_of(call.operation).cost(call.row) if call else None
        self._number += 1
        for one in comparisons:
            distance = one.value - one.constant
            if math.isnan(distance):
                continue
            seen = self._seen.setdefault(one.place, set())
            seen.add((distance > 0) - (distance < 0))
            for sign in (0, -1, 1):
                if sign in seen:
                    self._attempts.pop((one.place, sign), None)
                elif call and cost is not None and abs(distance) <= _FARTHEST:
                    self._learn((one.place, sign), _Base(cost, self._number, call, one))

    def _learn(self, aim: Aim, base: _Base) -> None:
        """Keep the cheapest calls."""
        attempts = self._attempts.setdefault(aim, _Attempts([]))
        bisect.insort(attempts.bases, base)
        del attempts.bases[max(0, _BASES - attempts.used) :]

    def call(self) -> Call | None:
        """Return a call at what was aimed at least often, none of them twice; nothing where there is none left."""
        for aim in sorted(self._attempts, key=lambda aim: (self._attempts[aim].made, aim)):
            if call := self._next(self._attempts[aim], aim[1]):
                return call
        return None

    def _next(self, attempts: _Attempts, sign: int) -> Call | None:
        while attempts.left or attempts.bases:
            if not attempts.left:
                base = attempts.bases.pop(0)
                attempts.left = list(_aimed(base.call, base.comparison, sign))
                attempts.used += 1
                continue
            call = attempts.left.pop(0)
            if (text := repr(call.row)) not in self._made:
                self._made.add(text)
                attempts.made += 1
                return call
        return None


def _aimed(call: Call, one: Comparison, sign: int) -> Iterator[Call]:
    """Yield calls of which one argument is changed by what is missing, in either direction."""
    space = space_of(call.operation)
    for factor in space.factors:
        if is_free(space, factor) or is_any_number(factor):
            for value in dict.fromkeys(_values(call.row[factor.name], one, sign)):
                row = {**call.row, factor.name: value}
                if value != call.row[factor.name] and (factor.kind != "size" or value >= 1) and is_possible(space, row):
                    yield replace(call, row=row)


def _values(given: Any, one: Comparison, sign: int) -> Iterator[Any]:
    """Yield what an argument should be for the value that was compared to become the constant, or lie beside it."""
    if isinstance(given, int):
        missing = one.constant + sign - one.value
        if missing == int(missing):
            yield from (given + int(missing), given - int(missing))
        return
    for constant, value in ((one.constant, one.value), (one.value, one.constant)):  # either may be the constant
        target = constant + sign * (abs(constant) * _NEAR or _NEAR)
        # What is compared is the argument itself as float32, or differs from it by what does not depend on it.
        yield target if np.float32(given) == np.float32(value) else given + target - value
