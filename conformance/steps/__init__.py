"""Whole training steps and runs, held against the reference's, against each other, or against honest replicas.

In: a bench on a candidate, and a step's name.
Out: a Result for every call of the step; of a run for every step; `function/`: of a step that is one function.
Used by: report (which shows them), proof, commands.
"""

from __future__ import annotations

from conformance.ids import FULL_LAYER
from conformance.limits.envelope import LENGTH as RUN_LENGTH

from .divided import DIVIDED
from .free import FREE
from .recomputed import RECOMPUTED
from .resident import RESIDENT
from .scenarios import corpus
from .table import ENVELOPES, STEP_CASES, STEPS, WHOLE, StepCase, judge_step
from .tape import TAPE

__all__ = [
    "DIVIDED",
    "ENVELOPES",
    "FREE",
    "FULL_LAYER",
    "RECOMPUTED",
    "RESIDENT",
    "RUN_LENGTH",
    "STEPS",
    "STEP_CASES",
    "TAPE",
    "WHOLE",
    "StepCase",
    "corpus",
    "judge_step",
]
