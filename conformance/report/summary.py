"""A run in numbers: one row for each operation, the training steps, and the closing lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.judging.results import Result, Status
from conformance.limits.measure import MadeOf
from conformance.steps import ENVELOPES

from .record import counted

LOOSE = 1e-3  # a limit used to less than this by every case of an operation may be too loose, and is listed


@dataclass(frozen=True)
class Row:
    """All catalogue cases of one operation; those that are not supported, as declared, are counted apart."""

    operation: str
    cases: int
    passed: int
    refusals: int  # of the cases: calls that it has to refuse
    refused: int  # of these: how many passed
    sequences: int  # of the cases: calls in a row
    sequenced: int  # of these: how many passed
    excused: int  # waived, or too fine for the declared precision
    not_run: int
    unsupported: int  # beside the cases: those of sizes that are declared not to be supported
    share: float  # largest share of an element's limit that was used
    rms: float  # the largest rms of error / sigma
    bias: float  # the mean of error / sigma furthest from 0
    deterministic: bool
    exact: bool  # every output had to be met bit for bit
    measured: bool  # any output came to be judged

    @property
    def is_fine(self) -> bool:
        return self.passed + self.excused == self.cases

    @property
    def was_run(self) -> bool:
        return self.not_run < self.cases

    @property
    def computed(self) -> int:
        """How many of the cases have a result that is to be right."""
        return self.cases - self.refusals - self.sequences

    @property
    def right(self) -> int:
        """How many of these passed, or are excused."""
        return self.passed + self.excused - self.refused - self.sequenced

    @property
    def only_unrefused(self) -> bool:
        """Whether nothing stands against it but calls that it has to refuse: what it computes is right, if anything."""
        return 0 < self.computed == self.right and self.sequenced == self.sequences and self.refused < self.refusals

    @property
    def has_shares(self) -> bool:
        """Whether shares of its limits say anything: some output came to be judged by a limit above zero."""
        return self.measured and not self.exact

    @property
    def is_loose(self) -> bool:
        return self.has_shares and self.passed == self.cases and self.share < LOOSE


def rows(results: Iterable[Result]) -> list[Row]:
    """Return one row for each operation, in the order they came."""
    by_operation: dict[str, list[Result]] = {}
    for result in results:
        if not result.is_of_step:
            by_operation.setdefault(result.operation, []).append(result)
    return [_row(operation, few) for operation, few in by_operation.items()]


def _row(operation: str, every: Sequence[Result]) -> Row:
    results = [result for result in every if result.status is not Status.NOT_SUPPORTED]
    verdicts = [v for r in results for v in r.verdicts]
    return Row(
        operation,
        len(results),
        sum(r.status is Status.PASS for r in results),
        sum(r.is_refusal for r in results),
        sum(r.is_refusal and r.is_fine for r in results),
        sum(r.is_sequence for r in results),
        sum(r.is_sequence and r.is_fine for r in results),
        sum(r.is_fine and r.status is not Status.PASS for r in results),
        sum(not r.was_run for r in results),
        len(every) - len(results),
        max((v.share for v in verdicts), default=0.0),
        max((v.rms for v in verdicts), default=0.0),
        max((v.bias for v in verdicts), key=abs, default=0.0),
        all(r.repeats for r in results),
        bool(verdicts) and all(v.made_of is MadeOf.EXACT for v in verdicts),
        bool(verdicts),
    )


@dataclass(frozen=True)
class StepSummary:
    """One training step's way through its operations."""

    name: str
    calls: int
    passed: int
    not_run: int
    unsupported: int  # of the calls: those of sizes that are declared not to be supported
    worst: Result | None
    first_wrong: Result | None


def step_summaries(results: Iterable[Result]) -> list[StepSummary]:
    """Return every step's summary; results of one step are in the order of execution."""
    by_step: dict[str, list[Result]] = {}
    for result in results:
        if result.is_of_step and result.part not in ENVELOPES:  # a run is no list of calls: see runs.py
            by_step.setdefault(result.part, []).append(result)
    return [
        StepSummary(
            name,
            len(few),
            sum(r.status is Status.PASS for r in few),
            sum(not r.was_run for r in few),
            sum(r.status is Status.NOT_SUPPORTED for r in few),
            max((r for r in few if r.verdicts), key=lambda r: r.share, default=None),
            next((r for r in few if r.has_failed), None),
        )
        for name, few in sorted(by_step.items())
    ]


def blocks(results: Iterable[Result]) -> list[tuple[Result, int]]:
    """Return the failures to show of each operation and step, and how many there are of the kind.

    Of an operation that is the worst, and the worst of the calls that it had to refuse; of a step the first.  What was
    not run at all is not among them: `Row.not_run`.
    """
    groups: dict[tuple[bool, str], list[Result]] = {}
    for result in results:
        if result.has_failed:
            groups.setdefault((result.is_refusal, result.part), []).append(result)
    refusals_last = sorted(groups.items(), key=lambda group: group[0][0])
    return [(bad[0] if bad[0].is_of_step else max(bad, key=_gravity), len(bad)) for _, bad in refusals_last]


def _gravity(result: Result) -> tuple[bool, bool, bool, float]:
    """One call says more than several in a row.

    A call that did not come back says more than a wrong number, most where it is known what it did to memory.

    So does one that is not the same twice; of numbers a larger error says more than a small one.
    """
    ended = result.status is not Status.FAIL
    return not result.is_sequence, ended, bool(result.findings) if ended else not result.repeats, result.share


def counts(results: Iterable[Result]) -> dict[Status, int]:
    """Return how many results have each status, those that none has left out."""
    found = dict.fromkeys(Status, 0)
    for result in results:
        found[result.status] += 1
    return {status: count for status, count in found.items() if count}


def tally(results: Sequence[Result], seconds: float) -> str:
    """Return how many cases, in what time, and how they ended."""
    said = ", ".join(f"{count} {status}" for status, count in counts(results).items())
    return (
        f"{counted(len(results), 'case')} in {seconds:.1f} s, {len(results) / max(seconds, 1e-9):.0f} a second: {said}"
    )
