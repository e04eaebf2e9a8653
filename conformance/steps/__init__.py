"""Whole training steps: judged operation by operation on the reference's inputs, and as a whole from one start; one
with layers computed again, held against itself; one divided, held against the whole; some on
arrays that stay where the library computes, held against host arrays; and a run of them, held against
where honest arithmetic may lead."""

from __future__ import annotations

from conformance.calls import Bench
from conformance.envelope import STEPS as RUN_LENGTH
from conformance.results import Result

from .divided import DIVIDED, judge_divided
from .envelope import ENVELOPE, judge_envelope
from .free import FREE, judge_free
from .locked import judge_locked
from .recomputed import RECOMPUTED, judge_recomputed
from .resident import RESIDENT, judge_resident
from .scenarios import NUMBERS, corpus

__all__ = [
    "DIVIDED",
    "ENVELOPE",
    "FREE",
    "RECOMPUTED",
    "RESIDENT",
    "RUN_LENGTH",
    "STEPS",
    "WHOLE",
    "corpus",
    "judge_step",
]

STEPS = (*(f"step{number}/locked" for number in NUMBERS), FREE, RECOMPUTED, DIVIDED, RESIDENT, ENVELOPE)
WHOLE = (RECOMPUTED, DIVIDED, RESIDENT, ENVELOPE)  # whose results are of steps, not of single calls


def judge_step(name: str, bench: Bench, run_length: int = RUN_LENGTH) -> list[Result]:
    """Judge one of STEPS: a result for every call of it, in the order of execution; of a run, for every step."""
    if name == ENVELOPE:
        return judge_envelope(bench, run_length)
    if name == FREE:
        return judge_free(bench)
    if name == RECOMPUTED:
        return judge_recomputed(bench)
    if name == DIVIDED:
        return judge_divided(bench)
    if name == RESIDENT:
        return judge_resident(bench)
    return judge_locked(NUMBERS[STEPS.index(name)], bench)
