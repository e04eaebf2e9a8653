"""Steps held against others of the same candidate, or against a whole: no list of calls, and no run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.judging.results import Result, Status
from conformance.report.record import Run
from conformance.steps import STEP_CASES

from .model import Block, block
from .words import gravest, kind


@dataclass(frozen=True)
class Held:
    """What the page shows of one of them."""

    name: str
    said: str
    status: Status
    kind: str
    results: Sequence[Result]
    blocks: Sequence[Block]


def held(run: Run, number: int) -> list[Held]:
    """Return those that a candidate was asked for."""
    found = []
    for part, claim in ((name, case.claim) for name, case in STEP_CASES.items() if case.claim):
        results = [result for result in run.results if result.part == part]
        if results:
            status = gravest(results)
            failed = [block(r, run, number) for r in results if r.was_run and not r.is_fine]
            found.append(Held(part.partition("/")[2], claim, status, kind(status), results, failed))
    return found
