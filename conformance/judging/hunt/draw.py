"""Calls drawn at random: levels of the design and what lies between them and beyond."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from conformance.catalogue.cases.designed import case_of
from conformance.catalogue.cases.spec import Case
from conformance.catalogue.design.covering import Factor, Row
from conformance.catalogue.design.levels import SCALARS, VALUES
from conformance.catalogue.design.space import Space, space_of

from .pairs import Pairs

Some = TypeVar("Some")
_ATTEMPTS = 200  # draws that the header refuses, or that cost too much, before a level's cheapest is taken
_REDRAWN = 4  # values of a factor, before its cheapest is taken
_IN_PAIRS = 0.5  # of the calls: two levels that have not met yet
_SPECIAL = frozenset(VALUES["special"])


@dataclass(frozen=True)
class Call:
    """A call that is drawn: what each factor is, and the draw of the data."""

    operation: str
    row: Row
    seed: int

    @property
    def case(self) -> Case:
        """The call as a case; it stands in no catalogue."""
        return case_of(space_of(self.operation), self.row, "hunt", f"_seed{self.seed}")

    @property
    def described(self) -> str:
        """What the factors are, for a person."""
        return ", ".join(f"{name}={_short(value)}" for name, value in self.row.items())


def _short(value: Any) -> str:
    return (
        f"{len(value)} arrays" if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else f"{value}"
    )


class Draw:
    """Draws calls of one operation, a seed's always in the same order."""

    def __init__(self, operation: str, seed: int) -> None:
        self.space = space_of(operation)
        self._random = random.Random(f"hunt {operation} {seed}")
        self._pairs = Pairs(self.space, self._random)

    def call(self) -> Call:
        """Return the next call: one that the header allows and that costs no more than a designed case."""
        if self._random.random() < _IN_PAIRS and (row := self._pairs.row()):
            return Call(self.space.operation, row, self._random.randrange(2**31))
        return self.any()

    def any(self) -> Call:
        """Return such a call, each factor drawn for itself: levels, and what lies between them and beyond.

        Of two rows the cheaper one: what is wrong shows in a small call as a rule, and more of them can be made.
        """
        row = min((self._any_row() for _ in range(2)), key=lambda row: self.space.cost(row) or 0.0)
        return Call(self.space.operation, row, self._random.randrange(2**31))

    def _any_row(self) -> Row:
        """Return a row that begins as the cheapest; factors are drawn in any order, as large as those before allow."""
        row: Row = {factor.name: factor.levels[0] for factor in self.space.factors}
        for factor in self._random.sample(self.space.factors, len(self.space.factors)):
            drawn = ({**row, factor.name: self._value(factor)} for _ in range(_REDRAWN))
            row = next((each for each in drawn if is_possible(self.space, each)), row)
        return row

    def near(self, call: Call) -> Call:
        """Return a call that differs from another in one factor or two."""
        for _ in range(_ATTEMPTS):
            changed = self._random.sample(self.space.factors, min(self._random.choice((1, 2)), len(self.space.factors)))
            row = {**call.row, **{factor.name: self._value(factor) for factor in changed}}
            if is_possible(self.space, row):
                return Call(self.space.operation, row, self._random.randrange(2**31))
        return self._cheapest()

    def chance(self) -> float:
        """Return a number from 0 to 1, by which the hunt decides what to draw."""
        return self._random.random()

    def one_of(self, some: Sequence[Some]) -> Some:
        """Return one of some things."""
        return self._random.choice(some)

    def _cheapest(self) -> Call:
        cheapest = {factor.name: factor.levels[0] for factor in self.space.factors}
        return Call(self.space.operation, cheapest, self._random.randrange(2**31))

    def _value(self, factor: Factor) -> Any:
        between = self._random.random() < 0.5
        if factor.kind == "data":
            # Special values hide most of what else is wrong: they come less often than their share of the levels.
            plain = [level for level in factor.levels if level not in _SPECIAL] or list(factor.levels)
            return self._random.choice(plain if self._random.random() < 0.9 else factor.levels)
        if between and is_free(self.space, factor):
            return self._size(factor)
        if between and is_any_number(factor):
            return self._scalar(factor)
        return self._random.choice(factor.levels)

    def _size(self, factor: Factor) -> int:
        """Any size, each power of two as likely as the next, now and then a multiple of what kernels are cut by."""
        most: int = max(factor.levels)
        size = int(math.exp(self._random.uniform(0.0, math.log(most + 1))))
        if self._random.random() < 0.25:
            unit = self._random.choice((4, 8, 16, 32, 64, 128))
            size = -(-size // unit) * unit + self._random.choice((-1, 0, 1))
        return min(max(size, 1), most)

    def _scalar(self, factor: Factor) -> Any:
        level = self._random.choice(factor.levels)
        if isinstance(level, int):
            return int(math.exp(self._random.uniform(0.0, math.log(max(factor.levels) + 1))))
        return level * math.exp(self._random.uniform(-2.0, 2.0))


def is_free(space: Space, factor: Factor) -> bool:
    """Whether a size may be any number: its levels are those that every size has."""
    return (
        factor.kind == "size"
        and factor.name not in space.design.sizes
        and all(isinstance(level, int) for level in factor.levels)
    )


def is_any_number(factor: Factor) -> bool:
    """Whether a scalar may be any number that the header allows: its levels are those that every operation has."""
    return factor.kind == "scalar" and factor.levels == SCALARS.get(factor.name)


def is_possible(space: Space, row: Mapping[str, Any]) -> bool:
    """Whether the header allows a call, and it costs no more than a designed case."""
    paid = space.cost(row)
    return paid is not None and paid <= 1
