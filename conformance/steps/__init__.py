"""Whole training steps: judged operation by operation on the reference's inputs, and as a whole from one start."""

from __future__ import annotations

from conformance.calls import Bench
from conformance.results import Result

from .free import judge_free
from .locked import judge_locked
from .scenarios import NUMBERS, corpus

__all__ = ["STEPS", "corpus", "judge_step"]

STEPS = (*(f"step{number}/locked" for number in NUMBERS), "steps/free")


def judge_step(name: str, bench: Bench) -> list[Result]:
    """Judge one of STEPS: a result for every call of it, in the order of execution."""
    if name == STEPS[-1]:
        return judge_free(bench)
    return judge_locked(NUMBERS[STEPS.index(name)], bench)
