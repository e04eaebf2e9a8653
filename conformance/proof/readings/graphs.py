"""Tries the wrong readings of a graph on the shipped tasks: whole runs, each handed in as an engine's would be."""

from __future__ import annotations

import math
from collections.abc import Sequence

from conformance.graphs.handed import handed
from conformance.graphs.judge import judge_step
from conformance.graphs.readings import GRAPH, READINGS, carried_out
from conformance.graphs.tasks import TASKS, shipped
from conformance.report.graphs import GraphRun, verdict
from conformance.report.record import Run
from reference.readings import Reading

from .trial import Attempt, margin

__all__ = ["GRAPH", "READINGS", "TASKS", "try_graph"]


def try_graph(name: str, readings: Sequence[Reading] = READINGS) -> list[Attempt]:
    """Try readings on one task."""
    task = shipped(name)
    attempts = []
    for reading in readings:
        judged = judge_step(task, handed(task, carried_out(reading, task)))
        run = GraphRun(Run("engine", judged.results), [judged])
        most = max((margin(verdict) for result in judged.results for verdict in result.verdicts), default=math.inf)
        attempts.append(Attempt(reading.id, name, not run.run.bad, most, verdict(run) if run.run.bad else ""))
    return attempts
