"""What share of an operation's space its designed cases cover, and why they do not cover the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .covering import Covering, Row, is_beyond
from .space import ELEMENTS, WORK, Space


class Coverage(NamedTuple):
    """Of one operation: how many levels and pairs there are, and how many of them stand in a case.

    beyond: those that no call within the bounds reaches.
    """

    operation: str
    cases: int
    goals: int
    reached: int
    beyond: int

    @property
    def missing(self) -> int:
        """How many goals could be reached and are not."""
        return self.goals - self.reached - self.beyond

    @property
    def share(self) -> float:
        """The share of the goals that stand in a case."""
        return self.reached / self.goals


WHY_BEYOND = (
    f"a call that reaches them has arrays of more than {ELEMENTS:,} elements together, needs more than {WORK:,} "
    "multiplications, or is one that the header refuses"
)


def coverage(space: Space, rows: Iterable[Row]) -> Coverage:
    """Return what rows cover of a space."""
    covering, cases = Covering(space.factors), 0
    for row in rows:
        covering.reach(covering.numbered(row))
        cases += 1
    open_goals = list(covering.beginnings())
    beyond = sum(is_beyond(covering, begun, space.cost) for begun in open_goals)
    return Coverage(space.operation, cases, covering.goals, covering.goals - len(open_goals), beyond)


def together(found: Sequence[Coverage]) -> Coverage:
    """Return the sums over some operations."""
    return Coverage("together", *(sum(each) for each in zip(*(one[1:] for one in found), strict=True)))
