"""Which operations a training step calls, found without judging it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable

import reference
from conformance.limits.envelope import operations as of_run
from reference.model.config import TINY
from training.step_formats import trace

from .divided import DIVIDED
from .divided import operations as of_divided
from .locked import MIXED, PRECISIONS
from .recomputed import RECOMPUTED
from .recomputed import operations as of_recomputed
from .resident import RESIDENT
from .resident import operations as of_resident
from .table import ENVELOPES
from .tape import TAPE
from .tape import operations as of_tape

_OF_WHOLE: dict[str, Callable[[], Iterable[str]]] = {
    RECOMPUTED: of_recomputed,
    DIVIDED: of_divided,
    RESIDENT: of_resident,
    TAPE: of_tape,
}
_FORMATS = {
    **{f"step{name}/locked": name.partition("-")[2] for name in MIXED},
    **{name: run.suffix.removeprefix("-") for name, run in ENVELOPES.items()},
}


def called(step: str) -> frozenset[str]:
    """Return the operations that one of STEPS calls."""
    plain = _of_plain_step(_FORMATS.get(step, ""))
    if step in ENVELOPES:  # the first step of a run in fp16 overflows, and makes no update
        return plain | frozenset(of_run(ENVELOPES[step]))
    return plain | frozenset(_OF_WHOLE[step]()) if step in _OF_WHOLE else plain


def lacking(step: str, absent: Collection[str]) -> tuple[str, ...]:
    """Return what one of STEPS calls of these operations, by name.

    Where a plain step, which every other one holds, lacks something, that is enough: to trace the others takes a while.
    """
    missed = _of_plain_step(_FORMATS.get(step, "")) & {*absent}
    return tuple(sorted(missed or called(step) & {*absent}))


@functools.cache
def _of_plain_step(format: str) -> frozenset[str]:
    calls = trace(reference, TINY, PRECISIONS[format])
    return frozenset(call.operation for call in calls)
