"""What the page shows of each run: its verdict, and the cases of each operation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance import operations
from conformance.judging.results import Result, Status, worst
from conformance.judging.verdict import Verdict
from conformance.report.explanation import repeated
from conformance.report.passed_over import passed_over
from conformance.report.record import Run, verdict
from conformance.report.summary import Row, counts, rows

from .pictures import Cloud, Histogram, Map, cloud, error_map, histogram
from .words import gravest, kind


@dataclass(frozen=True)
class Block:
    """One case with its pictures."""

    result: Result
    kind: str
    anchor: str
    verdict: Verdict | None
    repeat: str
    axes: str
    map: Map | None
    cloud: Cloud | None
    histogram: Histogram | None


@dataclass(frozen=True)
class Section:
    """One operation of one candidate: its cases."""

    operation: str
    anchor: str
    row: Row
    status: Status
    kind: str
    blocks: Sequence[Block]
    results: Sequence[Result]
    passed_over: str  # what of its outputs was not judged


@dataclass(frozen=True)
class Candidate:
    """One run as the page shows it."""

    number: int
    run: Run
    verdict: str
    counts: Sequence[tuple[Status, str, int]]
    sections: Sequence[Section]
    passed_over: str  # what of its outputs was not judged


def candidates(runs: Sequence[Run]) -> list[Candidate]:
    """Return what the page shows of each run."""
    return [
        Candidate(
            number,
            run,
            verdict(run),
            [(status, kind(status), count) for status, count in counts(run.results).items()],
            list(_sections(number, run)),
            passed_over(run.results),
        )
        for number, run in enumerate(runs)
    ]


def _sections(number: int, run: Run) -> Iterator[Section]:
    named = shown_first(run)
    by_operation: dict[str, list[Result]] = {}
    for result in run.results:
        if not result.is_of_step:
            by_operation.setdefault(result.operation, []).append(result)
    for row in rows(run.results):
        results = by_operation[row.operation]
        status = gravest(results)
        shown = sorted((r for r in results if r.evidence or r.id in named), key=lambda r: (r.is_fine, -r.share))
        pictured = [block(result, run, number) for result in shown]
        yield Section(
            row.operation,
            anchor(number, row.operation),
            row,
            status,
            kind(status),
            pictured,
            results,
            passed_over(results),
        )


def shown_first(run: Run) -> set[str]:
    """Return the failures that the page's head links to: they have a block, with pictures or without."""
    return {cause.plainest.id for cause in run.causes}


def anchor(number: int, id: str) -> str:
    """Return the name of a place on the page: what a link may hold without being quoted."""
    return f"c{number}-" + "".join(c if c.isalnum() or c in "-_." else "-" for c in id)


def block(result: Result, run: Run, number: int) -> Block:
    """Return one case with its pictures."""
    evidence = result.evidence
    if evidence and math.prod(evidence.shape) == 1:
        evidence = None  # a picture of one element shows nothing
    return Block(
        result,
        kind(result.status),
        anchor(number, result.id),
        worst(result.verdicts),
        repeated(result, run),
        _axes(result) if evidence else "",
        error_map(evidence) if evidence else None,
        cloud(evidence) if evidence else None,
        histogram(evidence) if evidence else None,
    )


def _axes(result: Result) -> str:
    """Say what the rows and columns of a map are."""
    assert result.evidence
    (tall, wide), (high, broad) = result.evidence.matrix, result.evidence.tile
    function = operations.OPERATIONS.get(result.operation)  # another version's header may have declared it
    parameter = function.by_name.get(result.evidence.output) if function else None
    names = [axis.size.text for axis in parameter.shape] if parameter else []
    if len(names) == len(result.evidence.shape) > 1:
        text = f"rows: {' · '.join(names[:-1])} ({tall}); columns: {names[-1]} ({wide})"
    else:
        text = f"element = {wide} · row + column"
    return text + (f"; a cell is {high} x {broad} elements" if high * broad > 1 else "; a cell is an element")
