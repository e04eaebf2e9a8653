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

_OF_WHOLE: dict[str, Callable[[], Iterable[str]]] = {
    RECOMPUTED: of_recomputed,
    DIVIDED: of_divided,
    RESIDENT: of_resident,
}
_FORMATS = {f"step{name}/locked": name.partition("-")[2] for name in MIXED}


def called(step: str) -> frozenset[str]:
    """Return the operations that one of STEPS calls."""
    if step in ENVELOPES:  # the first step of a run in fp16 overflows, and makes no update
        run = ENVELOPES[step]
        return frozenset(of_run(run)) | _of_plain_step(run.suffix.removeprefix("-"))
    return frozenset(_OF_WHOLE[step]()) if step in _OF_WHOLE else _of_plain_step(_FORMATS.get(step, ""))


def lacking(step: str, absent: Collection[str]) -> tuple[str, ...]:
    """Return what one of STEPS calls of these operations, by name.

    Those that take a second to trace call all that a plain step calls: where that lacks something, it is enough.
    """
    plain = _of_plain_step("") if step in _OF_WHOLE else called(step)
    missed = plain & {*absent}
    return tuple(sorted(missed or called(step) & {*absent}))


@functools.cache
def _of_plain_step(format: str) -> frozenset[str]:
    return frozenset(placement.operation for placement in trace(reference, TINY, PRECISIONS[format]))
