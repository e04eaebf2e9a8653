"""Tries the wrong readings of the training step: each runs whole steps of the model that is judged, on real text."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from conformance.judging.verdict import judge
from conformance.limits.namespaces import OnFloat32, converted
from conformance.limits.noise import Noisy, exact
from conformance.steps.free import start
from conformance.steps.scenarios import TRAINING, scenario
from reference.readings import Reading
from reference.readings.step import READINGS as STEP_READINGS
from reference.step import State, TrainingConfig, training_step

from .trial import Attempt, margin

# The steps that are judged; the schedule's end, and gradients that add up, do not show in those.
SITUATIONS: dict[str, TrainingConfig] = {
    "as judged": TRAINING,
    "behind total": replace(TRAINING, total=2),
    "micro-batches": replace(TRAINING, micro_batches=2),
}


STEP = "training_step"  # what stands for an operation's name


def by_name(state: State, metrics: Any) -> dict[str, Any]:
    """Return every array that steps leave behind, by what it is."""
    moved = {f"{kind} of {name}": a for kind in ("parameters", "m", "v") for name, a in getattr(state, kind).items()}
    return moved | dict(zip(metrics._fields[:4], metrics[:4], strict=True))


def run(step: Callable[..., Any], training: TrainingConfig, state: State) -> dict[str, Any]:
    """Run the steps and return what they leave behind."""
    _, batches = start()
    for tokens, targets in batches:
        state, metrics = step(OnFloat32(), scenario(1).config, training, state, tokens, targets)
    return by_name(state, metrics)


@functools.cache
def _expected(situation: str) -> dict[str, Noisy]:
    state, _ = start()
    return run(training_step, SITUATIONS[situation], converted(state, lambda array: exact(array, worst=False)))


def try_step(situation: str, readings: Sequence[Reading] = STEP_READINGS) -> list[Attempt]:
    """Try readings of the step in one situation."""
    attempts = []
    for reading in readings:
        state, _ = start()
        got = run(reading.function, SITUATIONS[situation], state)
        verdicts = [judge(what, wanted, got[what]) for what, wanted in _expected(situation).items()]
        attempts.append(Attempt(reading.id, situation, all(v.passed for v in verdicts), max(map(margin, verdicts))))
    return attempts
