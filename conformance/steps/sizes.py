"""The sizes that whole steps call operations with: a step that needs what is not supported is not begun.

Of a locked step each call is judged by itself, so that nothing is said here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from conformance import operations
from conformance.judging.bench import Bench
from conformance.limits.envelope import RUNS, Run, follow
from conformance.limits.envelope.run import exact_beginning, exact_operations
from conformance.limits.namespaces import OnFloat32
from reference.namespace import Ops, Wrapped

from . import divided, free, recomputed, resident, runs, scenarios, tape

Sizes = tuple[str, tuple[tuple[str, int], ...]]  # of one call: its operation, and its sizes by name


class _Sized(Wrapped):
    """A namespace that notes the sizes of every call."""

    def __init__(self, ops: Ops) -> None:
        super().__init__(ops)
        self.calls: dict[Sizes, None] = {}

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        arguments = operations.signature(operations.OPERATIONS[operation]).named(args, named)
        self.calls[operation, tuple(operations.sizes(operation, arguments).items())] = None
        return super()._call(operation, *args, **named)


_MADE: Mapping[str, Callable[[Ops], Any]] = {
    free.FREE: lambda ops: free.run_library(ops, *free.start()),
    recomputed.RECOMPUTED: lambda ops: recomputed.run(ops, scenarios.batch(1)),
    divided.DIVIDED: divided.run,
    resident.RESIDENT: resident.on_host_arrays,
    tape.TAPE: tape.run,
}
_RUNS: Mapping[str, Run] = {runs.part_of(run): run for run in RUNS}


@functools.cache
def sizes_of(step: str) -> tuple[Sizes, ...]:
    """Return the sizes of every call of a whole step, or of the first steps of a run, found on the reference."""
    if step in _RUNS:
        return _of_run(_RUNS[step])
    if step not in _MADE:
        return ()
    ops = _Sized(OnFloat32())
    _MADE[step](ops)
    return tuple(ops.calls)


def _of_run(run: Run) -> tuple[Sizes, ...]:
    ops = _Sized(exact_operations(run))
    next(follow(ops, run, exact_beginning(run)))
    return tuple(ops.calls)


def unsupported(step: str, bench: Bench, needed: Iterable[str]) -> str:
    """Say which call of a whole step is of sizes that are declared not to be supported; nothing where none is."""
    if not any(bench.declared.of(operation).supports for operation in needed):
        return ""
    said = (bench.unsupported(operation, dict(sizes)) for operation, sizes in sizes_of(step))
    return next((f"needs a call that is not supported: {reason}" for reason in said if reason), "")
