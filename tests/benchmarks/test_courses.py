"""Courses through the tape: on that of the step written by hand; one that trains otherwise leaves it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import reference
from benchmarks import courses
from conformance.judging.results import Status
from conformance.limits.envelope import RUN
from reference.step import TrainingConfig
from tensors.functions import FUSED


def test_the_tape_is_on_the_course() -> None:
    results = list(courses.course(reference, FUSED))
    assert len(results) == RUN.steps
    assert {result.status for result in results} == {Status.PASS}


@pytest.mark.parametrize("wrong", [{"beta2": 0.999}, {"weight_decay": 0.1}, {"clip_norm": 0.5}, {"warmup": 3}])
def test_a_tape_that_trains_otherwise_leaves_it(wrong: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    taped = courses.taped

    def otherwise(config: object, training: TrainingConfig, *given: object) -> object:
        return taped(config, replace(training, **wrong), *given)

    monkeypatch.setattr(courses, "taped", otherwise)
    assert Status.FAIL in {result.status for result in courses.course(reference, FUSED)}
