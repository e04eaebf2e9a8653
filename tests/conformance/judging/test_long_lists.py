"""A failure of a long list of arrays is diagnosed by work in proportion to their number: counted, not timed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import reference
from conformance.judging.causes import causes
from conformance.judging.diagnoses import Diagnosis, Kind, Symptom, of_symptoms
from conformance.judging.diagnosis import diagnose
from conformance.judging.outputs import judge_outputs
from conformance.judging.results import Result, Status
from conformance.judging.values import Values, measured
from conformance.limits.expectation import expect
from conformance.operations import flat

SHORT, LONG = 60, 240


class Counted(Mapping[str, Any]):
    """Outputs by name, and how often one of them was asked for."""

    def __init__(self, outputs: Mapping[str, Any]) -> None:
        self.outputs, self.count = outputs, 0

    def __getitem__(self, name: str) -> Any:
        self.count += 1
        return self.outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.outputs)

    def __len__(self) -> int:
        return len(self.outputs)


def looks(arrays: int) -> tuple[int, Diagnosis]:
    """How often an output is looked at to diagnose so many arrays that are all wrong, and what is said of them."""
    draw = np.random.default_rng(arrays)
    arguments = {"arrays": [draw.normal(size=3).astype(np.float32) for _ in range(arrays)], "scale": np.float32([0.5])}
    expected = expect("multi_scale", arguments)
    right = flat({"arrays": reference.multi_scale(**arguments)})
    got = {name: (array + draw.normal(size=3)).astype(np.float32) for name, array in right.items()}
    verdicts = judge_outputs("multi_scale", arguments, expected, got)
    due, came = Counted(expected), Counted(got)
    diagnosis = diagnose("multi_scale", arguments, due, came, verdicts)
    assert diagnosis is not None
    return due.count + came.count, diagnosis


@pytest.mark.slow
def test_four_times_as_many_arrays_are_less_than_five_times_the_work() -> None:
    short, long = looks(SHORT)[0], looks(LONG)[0]
    assert LONG <= long < 5 * short  # nine times, where each of them is compared with all others


@pytest.mark.slow
def test_every_array_is_said_though_few_are_looked_at() -> None:
    [symptom] = looks(LONG)[1].symptoms
    assert len(symptom.outputs) == LONG


class Asked(Values):
    """Values of which it is counted how often somebody asks for their output."""

    times = 0

    def __getattribute__(self, name: str) -> Any:
        if name == "output":
            Asked.times += 1
        return super().__getattribute__(name)


def asked(arrays: int) -> int:
    """How often it is asked of which output values are, to group a failure of so many arrays by its cause."""
    names = [f"arrays[{place}]" for place in range(arrays)]
    vague = of_symptoms([Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN, outputs=tuple(names))])
    low = tuple(
        Asked(name, "scale", measured.Kind.NEGATIVE, -9.0, -1.0, float("nan"), 0.5, 20, 20, 20, 40) for name in names
    )
    failure = Result("multi_scale/plain/1x(5,)", "multi_scale", Status.FAIL, diagnosis=replace(vague, values=low))
    before = Asked.times
    causes([failure])
    return Asked.times - before


def test_values_of_four_times_as_many_arrays_are_asked_for_no_more_than_four_times_as_often() -> None:
    short, long = asked(SHORT), asked(LONG)
    assert LONG <= long <= LONG // SHORT * short
