"""A run in numbers: one row for each operation, the training steps' course, and the closing lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.results import Result, Status

LOOSE = 1e-3  # a limit used to less than this by every case of an operation may be too loose, and is listed


@dataclass(frozen=True)
class Row:
    """All catalogue cases of one operation."""

    operation: str
    cases: int
    passed: int
    share: float  # largest share of an element's limit that was used
    rms: float  # the largest rms of error / sigma
    bias: float  # the mean of error / sigma furthest from 0
    deterministic: bool
    exact: bool  # every output had to be met bit for bit

    @property
    def is_loose(self) -> bool:
        return not self.exact and self.passed == self.cases and self.share < LOOSE


def is_step(result: Result) -> bool:
    """Whether a result is of a training step rather than of the catalogue."""
    return result.id.startswith("step")


def rows(results: Iterable[Result]) -> list[Row]:
    """Return one row for each operation, in the order they came."""
    by_operation: dict[str, list[Result]] = {}
    for result in results:
        if not is_step(result):
            by_operation.setdefault(result.operation, []).append(result)
    return [_row(operation, few) for operation, few in by_operation.items()]


def _row(operation: str, results: Sequence[Result]) -> Row:
    verdicts = [v for r in results for v in r.verdicts]
    return Row(
        operation,
        len(results),
        sum(r.status is Status.PASS for r in results),
        max((v.share for v in verdicts), default=0.0),
        max((v.rms for v in verdicts), default=0.0),
        max((v.bias for v in verdicts), key=abs, default=0.0),
        not any("second run" in finding for r in results for finding in r.findings),
        all(v.made_of == "exact" for v in verdicts),
    )


@dataclass(frozen=True)
class Course:
    """One training step's way through its operations."""

    name: str
    calls: int
    passed: int
    worst: Result | None
    first_wrong: Result | None


def courses(results: Iterable[Result]) -> list[Course]:
    """Return every step's course; results of one step are in the order of execution."""
    by_step: dict[str, list[Result]] = {}
    for result in results:
        if is_step(result):
            by_step.setdefault("/".join(result.id.split("/")[:2]), []).append(result)
    return [
        Course(
            name,
            len(few),
            sum(r.status is Status.PASS for r in few),
            max(few, key=lambda r: r.share, default=None),
            next((r for r in few if r.status is not Status.PASS), None),
        )
        for name, few in sorted(by_step.items())
    ]


def counts(results: Iterable[Result]) -> dict[Status, int]:
    """Return how many results have each status."""
    found = dict.fromkeys(Status, 0)
    for result in results:
        found[result.status] += 1
    return found
