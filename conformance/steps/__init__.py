"""Whole training steps and runs, held against the reference's, against each other, or against honest replicas.

In: a bench on a candidate, and a step's name.
Out: a Result for every call of the step; of a run for every step.
Used by: report (which shows them), proof, commands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.judging.bench import Bench
from conformance.judging.results import Result
from conformance.limits.envelope import LENGTH as RUN_LENGTH
from conformance.limits.envelope import RUN

from .divided import DIVIDED, judge_divided
from .free import FREE, judge_free
from .locked import MIXED, judge_locked
from .recomputed import RECOMPUTED, judge_recomputed
from .resident import RESIDENT, judge_resident
from .runs import ENVELOPES, judge_envelope
from .scenarios import NUMBERS, corpus

__all__ = [
    "DIVIDED",
    "ENVELOPES",
    "FREE",
    "RECOMPUTED",
    "RESIDENT",
    "RUN_LENGTH",
    "STEPS",
    "WHOLE",
    "corpus",
    "judge_step",
]

_LOCKED = {f"step{name}/locked": str(name) for name in (*NUMBERS, *MIXED)}
_JUDGES: dict[str, Callable[[Bench], list[Result]]] = {
    FREE: judge_free,
    RECOMPUTED: judge_recomputed,
    DIVIDED: judge_divided,
    RESIDENT: judge_resident,
}
STEPS = (*_LOCKED, *_JUDGES, *ENVELOPES)
WHOLE = (RECOMPUTED, DIVIDED, RESIDENT, *ENVELOPES)  # whose results are of steps, not of single calls


def judge_step(name: str, bench: Bench, run_length: int = RUN_LENGTH) -> list[Result]:
    """Judge one of STEPS: a result for every call of it, in the order of execution; of a run, for every step."""
    if name in _JUDGES:
        return _JUDGES[name](bench)
    if name in _LOCKED:
        return judge_locked(_LOCKED[name], bench)
    run = ENVELOPES[name]
    return judge_envelope(bench, replace(run, steps=run_length) if run == RUN else run)
