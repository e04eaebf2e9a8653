"""Engines of the command line, each run on every task and judged."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from conformance.builds import build, device_builds
from conformance.candidates.candidate import SCHEDULES, Candidate, candidates, module_candidates, worker_of
from conformance.candidates.module.graph import FUNCTION
from conformance.candidates.module.source import find
from conformance.candidates.sandbox.restrictions import described
from conformance.candidates.worker.begun import THREADS
from conformance.commands.run.judgement import today
from conformance.graphs.engines import Engine, engine_of
from conformance.graphs.files import read_results
from conformance.graphs.handed import Handed, handed
from conformance.graphs.judge import Judged, judge_step
from conformance.graphs.task import Task
from conformance.judging.evidence_selection import EvidenceSelector
from conformance.judging.results import Result
from conformance.report.graphs import GraphRun
from conformance.report.record import Run

_LINES = 4  # of what an engine printed
_NOTE = "a whole step of an engine: single operations, memory and refused calls were not judged"


class Named(NamedTuple):
    """What is judged: what reports call it, the candidate (none: the reference, or files), and how it was named."""

    name: str
    candidate: Candidate | None
    option: str
    named: str


def asked(options: argparse.Namespace) -> list[Named]:
    """Return what the options name; builds are made.  Raises LibraryError, BuildError and CandidateError."""
    if options.results:
        return [Named(options.results.name, None, "--results", str(options.results))]
    if options.module:
        module = replace(find(options.module, options.framework), step=FUNCTION)
        [made] = module_candidates([("", module)])
        return [Named(made.name.removesuffix(f":{FUNCTION}"), made, "--module", options.module)]
    if options.library:
        return [Named(options.library.name, Candidate(options.library), "--library", str(options.library))]
    return [found for name in dict.fromkeys(options.on) for found in _own_build(name)]


def _own_build(name: str) -> list[Named]:
    """The reference, or a build of this project's own; an emulated one in every order of threads."""
    if name == "reference":
        return [Named(name, None, "--on", name)]
    libraries = [*device_builds([])] if name == "cuda" else [(name, build(name))]
    orders = SCHEDULES if name == "emulated" else ()
    return [Named(made.name, made, "--on", name) for made in candidates(libraries, orders)]


def judged(options: argparse.Namespace, tasks: Sequence[Task], engine: Named) -> GraphRun:
    """Judge an engine on every task.  Raises what opening it raises."""
    started = time.monotonic()
    outcomes, isolation = _ran(options, tasks, engine)
    selector = EvidenceSelector() if options.report else None
    found: list[Judged] = []
    stopped: list[Result] = []
    problems: list[str] = []
    printed: list[str] = []
    for task, outcome in zip(tasks, outcomes, strict=True):
        if isinstance(outcome, Result):
            stopped.append(outcome)
        else:
            found.append(judge_step(task, outcome, options.partial, selector))
            problems += [f"{task.name}: {text}" for text in outcome.beside]
            printed += [f"{task.name}: printed: {line}" for line in outcome.printed.splitlines()[:_LINES]]
    record = Run(
        candidate=engine.name,
        results=[*stopped, *(result for one in found for result in one.results)],
        library=engine.named,
        option=engine.option,
        options=str(options.folder) if options.folder else "",
        seed=options.seed,
        seconds=time.monotonic() - started,
        problems=problems,
        whole=not options.task and not options.folder,
        date=today().isoformat(),
        isolation=isolation,
        note=_NOTE,
        notes=[*printed, *(_not_handed_in(found) if options.partial else [])],
    )
    return GraphRun(record, found, stopped, options.partial)


def _ran(options: argparse.Namespace, tasks: Sequence[Task], named: Named) -> tuple[Sequence[Handed | Result], str]:
    """What an engine made of every task, and what its process was kept from."""
    if options.results:
        return [handed(tasks[0], read_results(options.results, tasks[0]))], ""
    engine: Engine = engine_of(named.candidate)
    if engine.candidate is None:
        return [engine.run(task, None) for task in tasks], ""
    with worker_of(engine.candidate, THREADS, options.limit) as worker:
        kept = described(worker.process().restricted)
        return [engine.run(task, worker) for task in tasks], kept


def _not_handed_in(found: Sequence[Judged]) -> list[str]:
    missed = [one for one in found if one.absent]
    return [f"{one.task.name}: not handed in, and not judged: {', '.join(one.absent)}" for one in missed]
