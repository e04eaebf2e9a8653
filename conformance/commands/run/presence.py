"""What of a selection a library can be judged on: the rest costs nothing, and is told in a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bindings.shared_object.misnamed import listed
from conformance.commands.selection import Selection, is_counted
from conformance.operations import OPERATIONS
from conformance.report.record import counted
from conformance.steps.needs import called, lacking

_NAMED = 8  # operations that a line names; the report for machines names them all


@dataclass(frozen=True)
class Presence:
    """A selection divided: what is there to be judged, and what is not."""

    there: Selection
    absent: tuple[str, ...] = ()  # operations that were chosen and are not exported
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)  # steps, and what each lacks
    cases: int = 0  # of absent operations, without their probes

    def sentences(self) -> Iterator[str]:
        """Yield what is not there, a line for operations and one for steps."""
        if self.absent:
            yield f"not exported: {counted(len(self.absent), 'operation')} ({listed(self.absent, _NAMED)})"
        if self.left_out:
            called_for = {operation for lacks in self.left_out.values() for operation in lacks}
            lacked = [operation for operation in OPERATIONS if operation in called_for]
            steps = counted(len(self.left_out), "training step")
            yield f"not run: {steps}, which {'calls' if len(self.left_out) == 1 else 'call'} {listed(lacked, _NAMED)}"


def divide(selection: Selection, absent: Sequence[str]) -> Presence:
    """Divide a selection by what a library does not export.

    Of a step that was asked for by name the locked kind is judged in part: each of its calls stands by itself.
    """
    if not absent:
        return Presence(selection)
    chosen = set(selection.operations)
    left_out = {step: lacks for step in selection.steps if (lacks := _missed(step, selection, absent))}
    steps_call = {operation for step in selection.steps for operation in lacking(step, absent)}
    gone = tuple(operation for operation in absent if operation in chosen | steps_call)
    there = selection.without(absent, left_out)
    return Presence(there, gone, left_out, sum(is_counted(id) for id in {*selection.cases} - {*there.cases}))


def _missed(step: str, selection: Selection, absent: Sequence[str]) -> tuple[str, ...]:
    """What keeps a step from being run."""
    lacks = lacking(step, absent)
    in_part = "/locked" in step and not selection.is_whole and len(lacks) < len(called(step))
    return () if in_part else lacks
