"""What share of an operation's space its designed cases cover, and why they do not cover the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .covering import Covering, JudgedLevels, Row, every_level, is_beyond, plainest
from .space import ELEMENTS, WORK, Space


class Coverage(NamedTuple):
    """Of one operation: how many levels and pairs there are, and how many of them stand in a case.

    beyond: those that no call within the bounds reaches.  open: those that stand in no judged case, as nothing is known
    of the results, or of those that special values lead to, even in the plainest call that holds them.
    """

    operation: str
    cases: int
    goals: int
    reached: int
    beyond: int
    open: int

    @property
    def missing(self) -> int:
        """How many goals could be reached and are not."""
        return self.goals - self.reached - self.beyond - self.open

    @property
    def share(self) -> float:
        """The share of the goals that stand in a case."""
        return self.reached / self.goals


WHY_BEYOND = (
    f"a call that reaches them has arrays of more than {ELEMENTS:,} elements together, needs more than {WORK:,} "
    "multiplications, or is one that the header refuses"
)


WHY_OPEN = (
    "nothing is known of what the plainest call with them gives: an order of evaluation overflows, or the header "
    "leaves it open"
)


def coverage(space: Space, rows: Iterable[Row], judges: JudgedLevels = every_level) -> Coverage:
    """Return what rows cover of a space; judges: what counts of a row."""
    covering, cases = Covering(space.factors), 0
    for row in rows:
        covering.reach_by_case(row, judges)
        cases += 1
    left = list(covering.beginnings())
    within = [begun for begun in left if not is_beyond(covering, begun, space.cost)]
    open_ones = sum(not covering.is_judged(begun, plainest(covering, begun, space.cost), judges) for begun in within)
    reached, beyond = covering.goals - len(left), len(left) - len(within)
    return Coverage(space.operation, cases, covering.goals, reached, beyond, open_ones)


def together(found: Sequence[Coverage]) -> Coverage:
    """Return the sums over some operations."""
    return Coverage("together", *(sum(each) for each in zip(*(one[1:] for one in found), strict=True)))
