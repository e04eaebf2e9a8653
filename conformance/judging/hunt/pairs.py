"""Levels by turns: first each by itself, then of two factors each beside each of the other's, until all have met.

The design covers pairs of classes of sizes, as its cases are judged in every run; a hunt has time for every pair of
sizes.  However seldom a draw of all factors at random puts two levels together: here they meet after as many calls as
there are pairs, at most.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.design.covering import Row
from conformance.catalogue.design.space import Space

_COMPLETIONS = 8  # of a pair, of which the one is taken that holds most other open pairs for what it costs
_PASSED_OVER = 500  # pairs, before a row is given up
_MOST_CLASSES = 1 << 16  # of a factor
_FREE = 0.1  # the cost that every call has anyhow
_Places: TypeAlias = Mapping[int, int]  # of levels, by that of the factor


class Pairs:
    """The levels of an operation, and pairs of them, that none of its rows has held; a level is a pair with itself."""

    def __init__(self, space: Space, draw: random.Random) -> None:
        self._space, self._draw = space, draw
        self._counts = [len(factor.levels) for factor in space.factors]
        self._classes = [np.array(factor.classes) for factor in space.factors]
        self._open = self._all()

    def _all(self) -> dict[tuple[int, int], NDArray[np.bool_]]:
        """Whether each pair is open, by two factors and their levels."""
        open = {(i, i): np.eye(count, dtype=bool) for i, count in enumerate(self._counts)}
        both = itertools.combinations(range(len(self._counts)), 2)
        return open | {(i, j): np.ones((self._counts[i], self._counts[j]), bool) for i, j in both}

    def row(self) -> Row | None:
        """Return a row that holds an open pair, after the last of which all are open again.

        A pair that stands in no call that the header allows and that costs no more than a designed case is passed
        over; None after many of them.
        """
        return next(filter(None, (self._row_with(self._draw_open()) for _ in range(_PASSED_OVER))), None)

    def _draw_open(self) -> _Places:
        """Draw an open level or, where there is none, an open pair: two factors, a class of each, one of its levels.

        Factors with four times as many open pairs come twice as often.  Few pairs of small classes are worth as much as
        many of large ones: kernels are as a rule alike in a class of the design.
        """
        if not any(table.any() for table in self._open.values()):
            self._open = self._all()
        left = {both: math.sqrt(table.sum()) for both, table in self._open.items() if table.any()}
        wanted = [(i, j) for i, j in left if i == j] or [*left]
        [(i, j)] = self._draw.choices(wanted, [left[both] for both in wanted])
        levels = np.argwhere(self._open[i, j])
        classes = self._classes[i][levels[:, 0]] * _MOST_CLASSES + self._classes[j][levels[:, 1]]
        a, b = self._draw.choice(levels[classes == self._draw.choice(np.unique(classes))].tolist())
        return {i: a, j: b}

    def _row_with(self, begun: _Places) -> Row | None:
        """Return the best of some rows that hold a pair, which is open no more; nothing where there is none."""
        rows = [row for _ in range(_COMPLETIONS) if self._worth(row := self._complete(begun))]
        cheapest = {**dict.fromkeys(range(len(self._counts)), 0), **begun}
        if not rows and not self._worth(cheapest):
            self._close(begun)
            return None
        best = max(rows, key=self._worth, default=cheapest)
        self._close(best)
        return self._by_name(best)

    def _complete(self, begun: _Places) -> _Places:
        """What is begun, with any level of every other factor."""
        return {**{i: self._draw.randrange(count) for i, count in enumerate(self._counts)}, **begun}

    def _worth(self, row: _Places) -> float:
        """How many open pairs a row holds for what it costs; 0 where there is no such call."""
        paid = self._space.cost(self._by_name(row))
        if paid is None or paid > 1:
            return 0.0
        return (1 + sum(int(table[row[i], row[j]]) for (i, j), table in self._open.items())) / (_FREE + paid)

    def _close(self, row: _Places) -> None:
        for (i, j), table in self._open.items():
            if i in row and j in row:
                table[row[i], row[j]] = False

    def _by_name(self, row: _Places) -> Row:
        return {factor.name: factor.levels[row[i]] for i, factor in enumerate(self._space.factors)}
