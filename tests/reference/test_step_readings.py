"""Every wrong reading of the training step is refused by the judge in some situation; the step itself in none."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import reference
from conformance.judging.verdict import judge
from conformance.limits.namespaces import OnFloat32
from conformance.proof.readings.steps import by_name
from reference.readings import Reading
from reference.readings.step import READINGS
from reference.step import State, TrainingConfig, start, training_step
from tests.reference.model_samples import SMALL, batch, noisy, parameters

# Moments that are not zero, clipping in force, and each part of the schedule.
SITUATIONS = {
    "warm-up": (2, TrainingConfig(lr=1e-2, clip_norm=0.5, warmup=4, total=8)),
    "behind total": (5, TrainingConfig(lr=1e-2, clip_norm=0.5, warmup=1, total=3)),
    "micro-batches": (1, TrainingConfig(lr=1e-2, clip_norm=0.5, warmup=1, total=3, micro_batches=2)),
}


STORED = OnFloat32()


@functools.cache
def situation(name: str) -> tuple[TrainingConfig, State, dict[str, Any]]:
    """How training is set up, where it stands, and what the next step has to give."""
    updates, training = SITUATIONS[name]
    state = start(parameters(dtype=np.float32))
    for seed in range(updates):
        state, _ = training_step(reference, SMALL, training, state, *batch(seed=seed))
    known = State(noisy(state.parameters), noisy(state.m), noisy(state.v), state.step)
    return training, state, by_name(*training_step(STORED, SMALL, training, known, *batch(seed=updates)))


def refusals(name: str, function: Any) -> list[str]:
    training, state, expected = situation(name)
    results = by_name(*function(STORED, SMALL, training, state, *batch(seed=state.step)))
    assert results.keys() == expected.keys()
    verdicts = [judge(what, noise, results[what]) for what, noise in expected.items()]
    return [f"{verdict.output}: {verdict.reason}" for verdict in verdicts if not verdict.passed]


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_step_itself_is_accepted(name: str) -> None:
    assert refusals(name, training_step) == []


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_the_reading_is_refused(reading: Reading) -> None:
    assert any(refusals(name, reading.function) for name in SITUATIONS)


def test_readings_are_told_apart_by_name() -> None:
    assert len({reading.name for reading in READINGS}) == len(READINGS)
    assert {reading.operation for reading in READINGS} == {"training_step"}
