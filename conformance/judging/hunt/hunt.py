"""The hunt through some operations: draws calls until the time is over, and keeps one failure of each kind."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from conformance.catalogue.prepared import MemoryStore
from conformance.judging.bench import Bench
from conformance.judging.outputs import is_known
from conformance.judging.preparation import Preparation
from conformance.judging.results import Result, Status

from .coverage import Coverage
from .draw import Call, Draw
from .guide import Guide
from .shrink import shrunk

_SHRINKING = 300  # calls that one failure is worth
_KINDS = 3  # failures of one operation that are told apart


@dataclass(frozen=True)
class Found:
    """A call that fails: as it was drawn, and shrunk."""

    drawn: Call
    call: Call
    result: Result  # of the shrunk call
    number: int  # how many calls had been made when it was drawn
    shrinking: int  # how many more it took to shrink it


class Hunt:
    """Hunts on one bench; `made` counts the calls that were judged, `passed_over` those of which nothing is known.

    coverage: of the bench's library, where it was compiled for that.
    """

    def __init__(self, bench: Bench, operations: Sequence[str], seed: int, coverage: Coverage | None = None) -> None:
        self.bench, self._guide = bench, Guide(coverage)
        self.draws = [Draw(operation, seed) for operation in operations]
        self.made = self.passed_over = 0
        self._kinds: dict[str, set[str]] = {}

    def prepare(self) -> int:
        """Make the catalogue's calls, to learn what they reach; return how many there were.  Without coverage: none."""
        return sum(self._guide.prepare(draw.space.operation) for draw in self.draws)

    def run(self, seconds: float, most: int | None = None) -> Iterator[Found]:
        """Yield failures as they are found, each operation in its turn; stop after the time, or after so many draws."""
        end, cycle = time.monotonic() + seconds, itertools.cycle(self.draws)
        for draw in cycle if most is None else itertools.islice(cycle, most):
            if time.monotonic() >= end:
                return
            kinds = self._kinds.setdefault(draw.space.operation, set())
            if len(kinds) >= _KINDS:
                if all(len(found) >= _KINDS for found in self._kinds.values()) and len(self._kinds) == len(self.draws):
                    return
                continue
            call = self._guide.next(draw)
            result = self.judge(call)
            if result is not None and not result.is_fine and (found := self._found(call, result)):
                yield found

    def judge(self, call: Call) -> Result | None:
        """Make one call; nothing where not even the reference knows the result."""
        self.made += 1
        case = call.case
        preparation = Preparation(call.seed, self.bench.declared, MemoryStore())
        prepared = preparation.case(case)
        if not all(map(is_known, prepared.expected.values())):
            self.passed_over += 1
            return None
        result = self.bench.call(case.id, case.operation, prepared.arguments, prepared.expected)
        self._guide.learn(call)
        return result

    def _found(self, call: Call, result: Result) -> Found | None:
        """Shrink a failure; nothing where one like it is known."""
        number = self.made

        def fails(simpler: Call) -> bool:
            again = self.judge(simpler)
            return again is not None and again.status is result.status and _outputs(again) == _outputs(result)

        smallest, took = shrunk(call, fails, _SHRINKING)
        last = self.judge(smallest) or result
        if last.is_fine:  # it does not fail each time
            smallest, last = call, replace(result, reason=f"{result.reason}; the same call alone is right")
        if _kind(last) in self._kinds[call.operation]:
            return None
        self._kinds[call.operation].add(_kind(last))
        return Found(call, smallest, last, number, took)


def _outputs(result: Result) -> set[str]:
    return {verdict.output for verdict in result.verdicts if not verdict.passed}


def _kind(result: Result) -> str:
    """What tells one failure from another: the status, the diagnosis where there is one, the outputs."""
    looks = result.diagnosis.text if result.diagnosis and result.diagnosis.readings else ""
    return f"{Status(result.status)} {looks} {sorted(_outputs(result))}"
