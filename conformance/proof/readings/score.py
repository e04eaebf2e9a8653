"""Tries every wrong reading on the cases, in several processes, and sums up what was found and named."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from conformance.catalogue.cases import CASES
from conformance.catalogue.prepared import DiskStore, Store
from conformance.pool import shared
from conformance.report.score import Diagnosed, Faults, Score
from conformance.steps.divided import DIVISIONS
from conformance.variants.wrong.planted import planted
from reference.readings import Reading
from reference.readings.accumulation import READINGS as ACCUMULATION_READINGS
from reference.readings.recompute import READINGS as RECOMPUTE_READINGS
from reference.readings.step import READINGS as STEP_READINGS
from training.readings.mixed import MIXED_PRECISION
from training.readings.mixed import READINGS as MIXED_READINGS

from .divided import ACCUMULATION, try_division
from .graphs import GRAPH, TASKS, try_graph
from .graphs import READINGS as GRAPH_READINGS
from .mixed import RUNS_IN_16_BITS, try_mixed
from .recomputed import RECOMPUTATION, try_recomputation
from .recomputed import SETTINGS as RECOMPUTED
from .steps import SITUATIONS, STEP, try_step
from .trial import Attempt, ReadingResult, diagnose_on, gather, try_case

CHUNK = 8  # cases of one piece

# Readings of whole steps by what stands for an operation's name: what tries them, and where.  Those first that take
# longest.
STEPPED: dict[str, tuple[Sequence[Reading], Callable[[str], list[Attempt]], Sequence[str]]] = {
    STEP: (STEP_READINGS, try_step, tuple(SITUATIONS)),
    MIXED_PRECISION: (MIXED_READINGS, try_mixed, tuple(RUNS_IN_16_BITS)),
    ACCUMULATION: (ACCUMULATION_READINGS, try_division, tuple(DIVISIONS)),
    RECOMPUTATION: (RECOMPUTE_READINGS, try_recomputation, tuple(RECOMPUTED)),
    GRAPH: (GRAPH_READINGS, try_graph, TASKS),
}

Item = TypeVar("Item")


def stepped(console: Console, names: Sequence[str], processes: int) -> list[ReadingResult]:
    """Try readings of whole steps, of these names in STEPPED, in every situation."""
    pieces = [(name, situation) for name in names for situation in STEPPED[name][2]]
    told = _followed(console, "stepping", shared(_stepped, pieces, processes), len(pieces))
    return gather((reading for name in names for reading in STEPPED[name][0]), (one for few in told for one in few))


def _stepped(piece: tuple[str, str]) -> list[Attempt]:
    name, situation = piece
    return STEPPED[name][1](situation)


def judge(console: Console, operations: Sequence[str], processes: int) -> list[ReadingResult]:
    """Try every reading of the operations on all their cases, then diagnose each where it shows most."""
    ids = [case.id for case in CASES.values() if case.operation in operations]
    # Cases of one operation are of very different cost: neighbours go to different processes.
    pieces = [ids[start :: -(-len(ids) // CHUNK)] for start in range(-(-len(ids) // CHUNK))]
    store = DiskStore()
    planting = shared(partial(_tried, store=store), pieces, processes)
    told = [one for few in _followed(console, "planting", planting, len(pieces)) for one in few]
    results = gather((reading for name in operations if name not in STEPPED for reading in planted(name)), told)
    by_case: dict[str, list[str]] = {}
    for one in results:
        if one.clearest:
            by_case.setdefault(one.clearest.case, []).append(one.reading.id)
    by_id = {one.reading.id: one for one in results}
    # Those first that take longest, so that no process is left alone with one of them at the end.
    work = sorted(by_case.items(), key=lambda piece: -len(piece[1]))
    for few in _followed(console, "diagnosing", shared(partial(_diagnose, store=store), work, processes), len(work)):
        for id, line, right in few:
            by_id[id].line, by_id[id].right = line, right
    return results


def _tried(ids: Sequence[str], store: Store) -> list[Attempt]:
    return [attempt for id in ids for attempt in try_case(id, store=store)]


def _diagnose(piece: tuple[str, list[str]], store: Store) -> list[tuple[str, str, bool]]:
    return list(diagnose_on(*piece, store))


def _followed(console: Console, what: str, items: Iterable[Item], total: int) -> Iterator[Item]:
    """The items, with a bar on a terminal."""
    return iter(track(items, what, total, console=console, transient=True, disable=not console.is_terminal))


def scored(results: Sequence[ReadingResult], faults: Faults | None = None) -> Score:
    """Return the score of what was found."""
    told_apart = [one for one in results if one.failed]
    weakest = min(told_apart, key=lambda one: one.margin, default=None)
    diagnosed = [one for one in results if one.is_diagnosed]
    return Score(
        found=len(told_apart),
        total=len(results),
        weakest=weakest.reading.id if weakest else "",
        margin=weakest.margin if weakest else math.inf,
        survivors={one.reading.id: one.reading.equal for one in results if not one.failed},
        diagnosis=Diagnosed(
            sum(one.right for one in diagnosed),
            len(diagnosed),
            tuple(one.reading.id for one in diagnosed if not one.right),
        ),
        faults=faults,
    )
