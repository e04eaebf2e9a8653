"""The hunt through some operations: draws calls until the time is over, and keeps one failure of each kind."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from conformance.catalogue.prepared import MemoryStore
from conformance.catalogue.prepared.codec import Codec
from conformance.judging.bench import Bench
from conformance.judging.outputs import is_known
from conformance.judging.preparation import Preparation
from conformance.judging.results import Result, Status
from conformance.judging.sequences import judge_sequence
from conformance.limits.noise import using

from .coverage import Coverage
from .draw import Call, Draw
from .guide import Guide
from .sequence import Step, Steps, draw_steps, sequence_of
from .shrink import shrunk, shrunk_steps

Value = TypeVar("Value")
_SHRINKING, _SHRINKING_STEPS = 300, 60  # calls and sequences that one failure is worth; each sequence starts a process
_SEQUENCES = 1 / 32  # of the draws; one takes as long as ten calls, as each begins with a new process
_KINDS = 3  # failures of one operation that are told apart


@dataclass(frozen=True)
class Found:
    """Calls that fail: as they were drawn, and shrunk; one, or several in a row of which none fails alone."""

    drawn: Steps
    steps: Steps
    result: Result  # of the shrunk calls
    number: int  # how many calls had been made when they were drawn
    shrinking: int  # how many more calls, or sequences, it took to shrink them

    @property
    def call(self) -> Call:
        """The last call, which is the one that is wrong."""
        return self.steps[-1].call


class Hunt:
    """Hunts on one bench; `made` counts the calls that were judged, `passed_over` those of which nothing is known,
    `declined` those that are not supported, as declared.

    coverage: of the bench's library, where it was compiled for that.
    """

    def __init__(self, bench: Bench, operations: Sequence[str], seed: int, coverage: Coverage | None = None) -> None:
        self.bench, self._guide = bench, Guide(coverage)
        self.draws = [Draw(operation, seed) for operation in operations]
        self.made = self.passed_over = self.declined = 0
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
            if found := self._sequence(draw) if draw.chance() < _SEQUENCES else self._single(self._guide.next(draw)):
                yield found

    def judge(self, call: Call) -> Result | None:
        """Make one call; nothing where not even the reference knows any element of a result."""
        self.made += 1
        case, declared = call.case, self.bench.declared
        arguments, expected, weakness = Preparation(call.seed, declared, MemoryStore()).case(case)
        if weakness:
            self.passed_over += 1
            return None
        with using(declared.of(case.operation).arithmetic):
            spec = case.spec
            result = self.bench.call(
                case.id, case.operation, arguments, expected, spec.signed_zeros, leaves_open=spec.by_design
            )
        self.declined += result.status is Status.NOT_SUPPORTED
        self._guide.learn(call.operation, call)
        return result

    def judge_steps(self, steps: Steps) -> Result | None:
        """Make calls in a row, the first in a new process; nothing where not even the reference knows a result."""
        self.made += len(steps)
        bench = Bench(self.bench.worker, declared=self.bench.declared, store=_Remembering())
        sequence = sequence_of(steps)
        expected = [bench.prepared(one.case).expected for one in sequence.calls if one.refusal is None]
        if not all(is_known(each) for due in expected for each in due.values()):
            self.passed_over += len(steps)
            return None
        result = judge_sequence(sequence, bench)
        self._guide.learn(sequence.operation, None)
        return result

    def _single(self, call: Call) -> Found | None:
        """Judge a call; shrink a failure.  Nothing where it is right, or one like it is known."""
        result, number = self.judge(call), self.made
        if result is None or result.is_fine or self._is_known(call.operation, result):
            return None

        def fails(simpler: Call) -> bool:
            again = self.judge(simpler)
            return again is not None and again.status is result.status and _outputs(again) == _outputs(result)

        smallest, took = shrunk(call, fails, _SHRINKING)
        last = self.judge(smallest) or result
        if last.is_fine:  # it does not fail each time
            smallest, last = call, replace(result, reason=f"{result.reason}; the same call alone is right")
        return self._new(Found((Step(call),), (Step(smallest),), last, number, took))

    def _sequence(self, draw: Draw) -> Found | None:
        """Judge calls in a row; shrink a failure that none of them shows alone, and judge one that does by itself."""
        steps = draw_steps(draw)
        result, number = self.judge_steps(steps), self.made
        if result is None or result.is_fine:
            return None
        if self._is_known(draw.space.operation, result):
            return None
        if not result.findings:  # wrong alone too
            return next(filter(None, (self._single(step.call) for step in steps if not step.refusal)), None)

        def fails(simpler: Steps) -> bool:
            again = self.judge_steps(simpler)
            return again is not None and bool(again.findings) and again.status is result.status

        smallest, took = shrunk_steps(steps, fails, _SHRINKING_STEPS)
        last = self.judge_steps(smallest) or result
        if last.is_fine:
            smallest, last = steps, replace(result, reason=f"{result.reason}; the same calls again are right")
        return self._new(Found(steps, smallest, last, number, took))

    def _new(self, found: Found) -> Found | None:
        """Nothing where a failure of the same kind is known."""
        if self._is_known(found.call.operation, found.result):
            return None
        self._kinds[found.call.operation].add(_kind(found.result))
        return found

    def _is_known(self, operation: str, result: Result) -> bool:
        return _kind(result) in self._kinds[operation]


class _Remembering(MemoryStore):
    """Keeps what each call of one sequence needs, large or not."""

    def recall(self, name: str, make: Callable[[], Value], codec: Codec, *, large: bool = False) -> Value:
        return super().recall(name, make, codec, large=True)


def _outputs(result: Result) -> set[str]:
    return {verdict.output for verdict in result.verdicts if not verdict.passed}


def _kind(result: Result) -> str:
    """What tells one failure from another: the status, the diagnosis where there is one, the outputs, what was kept."""
    looks = result.diagnosis.text if result.diagnosis and result.diagnosis.readings else ""
    misdeeds = sorted({finding.kind for finding in result.findings}) if result.is_sequence else []
    return f"{Status(result.status)} {looks} {sorted(_outputs(result))} {misdeeds}"
