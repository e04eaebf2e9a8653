"""Correct libraries at full size and in sequence, each judged in processes of its own, as `run` judges a candidate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.candidates.candidate import candidates, close_idle_workers
from conformance.commands.run.runner import Setting, judge_all
from conformance.judging.results import Result, Status
from conformance.limits import Contract
from conformance.proof.false_alarms import Run, Unit, summary
from conformance.variants.honest import name_of

_NOT_JUDGED = (Status.NOT_RUN, Status.NOT_JUDGED)  # which is no run


def runs_apart(
    units: Sequence[Unit], libraries: Sequence[Path], declared: Contract, processes: int, limit_s: float
) -> Iterator[Run]:
    """Judge every library on calls at full size and calls in a row, and return runs as they come.

    limit_s: seconds that a call may take.  Raises LibraryError and CandidateError.
    """
    by_seed: dict[int, list[str]] = {}
    for id, seed in units:
        by_seed.setdefault(seed, []).append(id)
    for path in libraries if units else ():
        (candidate,) = candidates([(name_of(path), path)])
        close_idle_workers()
        for seed, ids in by_seed.items():
            setting = Setting(candidate, seed, limit_s=limit_s, declared=declared)
            for results in judge_all(ids, (), setting, processes):
                yield from (_run(result, seed, name_of(path)) for result in results if result.status not in _NOT_JUDGED)


def _run(result: Result, seed: int, name: str) -> Run:
    line, *shares = summary(result.verdicts)
    if not result.is_fine:
        line = f"{result.status}: {result.reason}"
    return Run(result.id, seed, name, line, *shares)
