"""One engine in its worker: its step made twice, and what came of it, or why nothing did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bindings.shared_object.symbols import read_symbols
from conformance.candidates.candidate import Candidate
from conformance.candidates.exports import refuse_strangers
from conformance.candidates.module.graph import call_graph
from conformance.candidates.worker.worker import Worker
from conformance.graphs.handed import Handed, handed
from conformance.graphs.task import Task
from conformance.judging.results import Result, Status
from conformance.limits.namespaces import OnFloat32
from conformance.steps.whole import ended

from .library import SYMBOL, call_library
from .operations import call_operations

OPERATION = "graph"
_RUNS = (1, 2)  # by their poison; what a second run gives otherwise was left to chance
Outcome = Handed | Result


class EngineError(ValueError):
    """A candidate is no engine; the message says what was expected."""


@dataclass(frozen=True)
class Engine:
    """What runs tasks: `how` says by what, module, library or operations.  Without a candidate it is the reference."""

    how: str
    candidate: Candidate | None = None

    def run(self, task: Task, worker: Worker | None) -> Outcome:
        """Make the task's step; return what was handed in, or the result that says why nothing was."""
        if worker is None:
            return handed(task, call_operations(OnFloat32(), task.document, task.arrays)["results"])
        came: list[Mapping[str, Any]] = []
        printed = ""
        for run in _RUNS:
            outcome = self._called(task, worker, run)
            if stopped := self._stopped(task, outcome):
                second = "in its second call, on the same arrays: "
                return replace(stopped, reason=f"{second if came else ''}{stopped.reason}")
            came.append(outcome.value)
            printed = printed or outcome.detail
        beside = [*came[0].get("beside", ())]
        changed = came[0].get("changed", ())
        if changed:
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            beside.append(f"changed {changed[0]}{more}: an engine leaves what it is given as it is")
        return handed(task, came[0]["results"], came[1]["results"], printed, beside)

    def _called(self, task: Task, worker: Worker, run: int) -> Any:
        if self.how == "library":
            return worker.call(call_library, task.document, task.arrays, run)
        function: Callable[..., Any] = call_graph if self.how == "module" else call_operations
        return worker.call(function, task.document, task.arrays)

    def _stopped(self, task: Task, outcome: Any) -> Result | None:
        """What to say of a step that did not come back, or refused."""
        id = f"graph/{task.name}"
        if outcome.status == "raised":
            first, _, rest = outcome.detail.partition("\n")
            if first.startswith("Traceback"):  # of our own graph on a library: its last line says what is wrong
                first, rest = outcome.detail.strip().splitlines()[-1], outcome.detail
            return Result(id, OPERATION, Status.FAIL, first, detail=rest)
        if over := ended(id, outcome):
            return replace(over, operation=OPERATION)
        if code := outcome.value.get("code", 0):
            return Result(id, OPERATION, Status.FAIL, f"returned {code}, expected 0: the step was not carried out")
        return None


def engine_of(candidate: Candidate | None) -> Engine:
    """Return what a candidate is as an engine; none: the reference.

    Raises EngineError for a library that neither exports assayer_graph_step nor any operation of the header, and
    LibraryError for a file that is no library.
    """
    if candidate is None:
        return Engine("operations")
    if candidate.module:
        return Engine("module", candidate)
    if SYMBOL in read_symbols(candidate.path).exported:
        return Engine("library", candidate)
    try:
        refuse_strangers(candidate.path)
    except ValueError as error:
        raise EngineError(f"{candidate.path}: expected {SYMBOL} (assayer_graph.h), or operations; {error}") from None
    return Engine("operations", candidate)


__all__ = ["Engine", "EngineError", "Outcome", "engine_of"]
