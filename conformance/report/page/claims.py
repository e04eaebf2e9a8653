"""Steps of which something is claimed as a whole, such as that recomputing changes no bit: no list of calls, no run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.judging.results import Result, Status
from conformance.report.record import Run
from conformance.steps import STEP_CASES

from .model import Block, block
from .words import gravest, kind


@dataclass(frozen=True)
class StepClaim:
    """What the page shows of one of them: what is claimed, and what came of it."""

    name: str
    claim: str
    status: Status
    kind: str
    results: Sequence[Result]
    blocks: Sequence[Block]


def step_claims(run: Run, number: int) -> list[StepClaim]:
    """Return those that a candidate was asked for."""
    found = []
    for part, claim in ((name, case.claim) for name, case in STEP_CASES.items() if case.claim):
        results = [result for result in run.results if result.part == part]
        if results:
            status = gravest(results)
            failed = [block(r, run, number) for r in results if r.has_failed]
            found.append(StepClaim(part.partition("/")[2], claim, status, kind(status), results, failed))
    return found
