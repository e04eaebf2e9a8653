"""Where the hunt goes next: on a library compiled for coverage to what no call has reached."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.candidates.worker.coverage import Comparison

from .aim import Aims
from .coverage import Coverage
from .draw import Call, Draw

_AIMED, _NEAR = 0.5, 0.25  # of the draws: aimed at a comparison, near a call that reached something new; the rest: any


class Guide:
    """Chooses calls, one operation's by what all calls of it have reached before.

    coverage: nothing where the library tells nothing; every draw is then as likely as any other.
    """

    def __init__(self, coverage: Coverage | None) -> None:
        self._coverage = coverage
        self._pools: dict[str, list[Call]] = {}  # calls that were the first to reach something
        self._aims: dict[str, Aims] = {}

    def prepare(self, operation: str) -> int:
        """Make the catalogue's calls, to learn what they reach; return how many there were."""
        if self._coverage is None:
            return 0
        count = 0
        for call, new, comparisons in self._coverage.of_catalogue(operation):
            self._note(operation, call, new, comparisons)
            count += 1
        return count

    def learn(self, operation: str, call: Call | None) -> None:
        """Learn what was reached since the last time: by a call, or by several in a row."""
        if self._coverage:
            self._note(operation, call, *self._coverage.news())

    def _note(self, operation: str, call: Call | None, new: int, comparisons: Sequence[Comparison]) -> None:
        self._aims.setdefault(operation, Aims()).note(comparisons, call)
        if call and new:
            self._pools.setdefault(operation, []).append(call)

    def next(self, draw: Draw) -> Call:
        """Return the operation's next call."""
        if self._coverage is None:
            return draw.call()
        operation, chance = draw.space.operation, draw.chance()
        if chance < _AIMED and (aimed := self._aims.get(operation, Aims()).call()):
            return aimed
        pool = self._pools.get(operation)
        return draw.near(draw.one_of(pool)) if pool and chance < _AIMED + _NEAR else draw.call()
