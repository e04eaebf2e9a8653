"""A covering array of mixed strength: few rows in which every level stands, and every pair of classes together.

The greedy construction is that of AETG (Cohen, Dalal, Fredman and Patton 1997): a row begins with a goal that no row
has reached, and each further factor takes the level that reaches most of what is left.  Two things are added: a row has
a cost with an upper bound, so that one long axis stands beside short ones; and a pair may speak of classes of levels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reference import random

Row: TypeAlias = dict[str, Any]  # level by factor
Numbers: TypeAlias = dict[int, int]  # the same by their places: that of a level by that of its factor
Cost: TypeAlias = Callable[[Mapping[str, Any]], float | None]  # of a row, 1 the most; None where there is no such call
JudgedLevels: TypeAlias = Callable[[Row], Collection[str]]  # the factors of a row whose levels its case judges
_TRIES = 4  # orders of the factors tried for each row
_FREE = 0.1  # the cost that every row has anyhow


@dataclass(frozen=True)
class Factor:
    """What varies: its levels, the cheapest or plainest first, and the class that each belongs to, from 0.

    Pairs are formed of the classes of a size, of the levels of a scalar, and of data by level beside a size, by class
    beside anything else; beside a scalar by `apart`, where that is given, finer classes.
    """

    name: str
    levels: tuple[Any, ...]
    classes: tuple[int, ...]
    kind: Literal["size", "scalar", "data"]
    apart: tuple[int, ...] = ()

    def places(self, other: Factor) -> NDArray[np.int64]:
        """Return for each level its row in the table of pairs with another factor."""
        if self.apart and other.kind == "scalar":
            return np.array(self.apart)
        by_class = self.kind == "size" or (self.kind == "data" and other.kind != "size")
        return np.array(self.classes if by_class else range(len(self.levels)))


class Covering:
    """The goals of some factors: every level of each, every pair.  Rows reach them."""

    def __init__(self, factors: Sequence[Factor]) -> None:
        self.factors = tuple(factors)
        both = list(itertools.permutations(range(len(self.factors)), 2))
        self._places = {(i, j): self.factors[i].places(self.factors[j]) for i, j in both}
        self._levels = [np.ones(len(factor.levels), bool) for factor in self.factors]
        self._pairs = {
            (i, j): np.ones((self._places[i, j].max() + 1, self._places[j, i].max() + 1), bool)
            for i, j in both
            if i < j
        }
        self.goals = self.open

    @property
    def open(self) -> int:
        """How many goals no row has reached."""
        return int(sum(table.sum() for table in (*self._levels, *self._pairs.values())))

    def gains(self, factor: int, row: Mapping[int, int]) -> NDArray[np.int64]:
        """Return for each level of a factor how many open goals it would reach in a row that is begun."""
        gained = self._levels[factor].astype(np.int64)
        for other, level in row.items():
            table = self._pairs[factor, other] if factor < other else self._pairs[other, factor].T
            gained += table[self._places[factor, other], self._places[other, factor][level]]
        return gained

    def reach(self, row: Mapping[int, int]) -> None:
        """Mark what a row reaches, of the factors that it holds."""
        for factor, level in row.items():
            self._levels[factor][level] = False
        for (i, j), table in self._pairs.items():
            if i in row and j in row:
                table[self._places[i, j][row[i]], self._places[j, i][row[j]]] = False

    def reach_by_case(self, row: Row, judges: JudgedLevels) -> None:
        """Mark what a row reaches by name, but for factors whose levels its case does not judge."""
        names = judges(row)
        self.reach({i: level for i, level in self.numbered(row).items() if self.factors[i].name in names})

    def is_judged(self, begun: Mapping[int, int], row: Mapping[int, int], judges: JudgedLevels) -> bool:
        """Whether the case of a row judges the levels that it was begun with."""
        return {self.factors[i].name for i in begun} <= {*judges(self.named(row))}

    def beginnings(self) -> Iterator[Numbers]:
        """Yield a beginning of a row for each open goal: levels first, the largest before all, then pairs."""
        for factor, table in enumerate(self._levels):
            yield from ({factor: int(level)} for level in np.flatnonzero(table)[::-1])
        for (i, j), table in self._pairs.items():
            for a, b in np.argwhere(table):
                yield {i: _first(self._places[i, j], a), j: _first(self._places[j, i], b)}

    def named(self, row: Mapping[int, int]) -> Row:
        """Return a row, or the beginning of one, by names and levels."""
        return {self.factors[i].name: self.factors[i].levels[level] for i, level in sorted(row.items())}

    def numbered(self, row: Mapping[str, Any]) -> Numbers:
        """Return a row by the places of factors and levels."""
        return {i: factor.levels.index(row[factor.name]) for i, factor in enumerate(self.factors)}


def _first(places: NDArray[np.int64], wanted: np.int64) -> int:
    return int(np.flatnonzero(places == wanted)[0])


def every_level(row: Row) -> Collection[str]:
    """Say that a row's case judges all of its levels."""
    return row.keys()


def covering_rows(
    factors: Sequence[Factor], cost: Cost, standing: Sequence[Row] = (), judges: JudgedLevels = every_level
) -> list[Row]:
    """Return rows that cost at most 1 each and reach every goal that such rows reach, those that stand among them.

    judges: what counts of a row; a goal that no row is found to judge is given up.  The same for the same factors,
    costs, standing rows and judgements, always.
    """
    covering = Covering(factors)
    rows = list(standing)
    for stands in rows:
        covering.reach_by_case(stands, judges)
    beyond: list[Numbers] = []
    while begun := next((b for b in covering.beginnings() if b not in beyond), None):
        if row := _best(covering, begun, cost, len(rows), judges):
            rows.append(covering.named(row))
            covering.reach_by_case(rows[-1], judges)
        else:
            beyond.append(begun)
    return rows


def is_beyond(covering: Covering, begun: Numbers, cost: Cost) -> bool:
    """Whether no row that costs at most 1 contains what is begun, all else being as cheap as can be."""
    return _price(covering, plainest(covering, begun, cost), cost) is None


def plainest(covering: Covering, begun: Numbers, cost: Cost) -> Numbers:
    """Return the row with what is begun in which all else is as cheap and plain as can be.

    Where the header refuses that (one size must be as large as another), one more factor takes a level that makes a
    call of it: not the cheapest, at which nothing is left over (all are chosen, say), but the next.
    """
    row = {**dict.fromkeys(range(len(covering.factors)), 0), **begun}
    if cost(covering.named(row)) is not None:
        return row
    others = (i for i in range(len(covering.factors)) if i not in begun)
    changed = [{**row, i: level} for i in others for level in range(1, len(covering.factors[i].levels))]
    paid = {place: price for place, one in enumerate(changed) if (price := cost(covering.named(one))) is not None}
    by_price = sorted(paid, key=lambda place: paid[place])
    within = [place for place in by_price[1:2] if paid[place] <= 1] or by_price[:1]
    return changed[within[0]] if within else row


def _price(covering: Covering, row: Numbers, cost: Cost) -> float | None:
    paid = cost(covering.named(row))
    return None if paid is None or paid > 1 else paid


def _best(covering: Covering, begun: Numbers, cost: Cost, number: int, judges: JudgedLevels) -> Numbers | None:
    """Return the row, of some that judge what is begun, that reaches most goals, the cheapest among equals."""
    if is_beyond(covering, begun, cost):
        return None
    found = []
    for trial in range(_TRIES):
        order = random.permutation(random.stream("covering", number, trial), len(covering.factors))
        row, gained = _completed(covering, begun, [int(f) for f in order if f not in begun], cost)
        found.append((-gained, _price(covering, row, cost) or 0.0, trial, row))
    candidates = [*(row for *_, row in sorted(found)), plainest(covering, begun, cost)]
    return next((row for row in candidates if covering.is_judged(begun, row, judges)), None)


def _completed(covering: Covering, begun: Numbers, order: list[int], cost: Cost) -> tuple[Numbers, int]:
    """Give each factor the level that reaches most for what it costs; return the row, and how much that was."""
    row, gained, others = dict(begun), 0, plainest(covering, begun, cost)
    for factor in order:
        gains = covering.gains(factor, row)
        prices = [_price(covering, {**others, **row, factor: level}, cost) for level in range(len(gains))]
        worth = [-math.inf if paid is None else gain / (_FREE + paid) for gain, paid in zip(gains, prices, strict=True)]
        row[factor] = int(np.argmax(worth)) if max(worth) > 0 else others[factor]
        gained += int(gains[row[factor]])
    return row, gained
