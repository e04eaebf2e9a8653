"""The envelope of a training run: honest runs stay in it, wrong steps leave it, and it is as wide as it says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import reference
from conformance.candidates.worker.outcome import Outcome
from conformance.catalogue.goldens import GoldenError
from conformance.catalogue.goldens.profiles import TRAINING_RUNS
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.judging.verdict import judge
from conformance.limits.envelope import REPLICAS, RUN, Envelope, batches, beginning, draw_envelope
from conformance.limits.envelope.replicas import replica
from conformance.limits.envelope.run import step
from conformance.proof.honest_runs import ByImplementation
from conformance.proof.honest_runs import run_of as honest_run
from conformance.steps import ENVELOPES, judge_step, runs
from conformance.steps.runs import compare_run, known_envelope
from conformance.variants.honest import implementations
from reference.model.config import TINY
from reference.model.parameters import held_shapes
from reference.readings.step import READINGS
from tests.conformance.steps.test_steps import InProcess
from training.step import Report

SAME_HERE = {  # readings that differ from the step only where this run does not go
    "micro-batches assigned": "there is one",
    "rises again after total": "the run ends there",
}

ENVELOPE = next(iter(ENVELOPES))


@pytest.fixture(scope="module")
def golden() -> Envelope:
    return known_envelope(RUN)


def run_of(function: Any, known: Envelope) -> Iterator[Result]:
    """Place the run of a training step in float32."""
    standing = beginning(RUN)
    for place, (tokens, targets) in enumerate(batches(RUN)):
        with np.errstate(all="ignore"):
            state, metrics = function(reference, RUN.config, RUN.training, standing.state, tokens, targets)
        standing = standing._replace(state=state)
        report = Report(*metrics, 1.0, False, [])
        yield compare_run(known, RUN, place, standing, report)


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_a_wrong_step_leaves_it(reading: Any, golden: Envelope) -> None:
    left = next((r for r in run_of(reading.function, golden) if r.status is Status.FAIL), None)
    assert (left is None) == (reading.name in SAME_HERE)


def test_a_run_that_left_it_is_placed(golden: Envelope) -> None:
    function = next(r.function for r in READINGS if r.name == "no inverse rotation")
    [*_, last] = run_of(function, golden)
    assert "spreads off the replicas' mean of" in last.reason
    assert "times as far from the reference's as honest rounding leads" in last.reason


def test_a_replica_that_is_not_one_of_them_lies_within(golden: Envelope) -> None:
    other = replica(REPLICAS + 1, replace(RUN, steps=2))
    for place in range(2):
        loss = np.array(other.losses[place : place + 1], np.float32)
        assert judge("loss", golden.expected["loss"][place : place + 1], loss).passed


@pytest.mark.slow
def test_the_spread_is_that_of_one_more_run() -> None:
    short = replace(RUN, steps=1)
    drawn = draw_envelope(short, count=2)
    losses = np.array([replica(number, short).losses for number in range(2)])[:, 0]
    assert drawn.expected["loss"].v == [losses.mean()]
    assert drawn.expected["loss"].variance == pytest.approx([losses.var(ddof=1) * (1 + 1 / 2)], rel=2**-50)
    assert not drawn.near.any()
    assert drawn.expected.keys() == {"loss", "norm", *(f"distance.{name}" for name in held_shapes(TINY))}


def test_so_many_replicas_are_the_fewest_that_keep_the_promise() -> None:
    def alarms(count: int) -> float:
        """How often one of the quantities of a run passes 8 standard errors: Student's t, both tails, by quadrature."""
        freedom, quantities = count - 1, RUN.steps * (2 + len(beginning(RUN).state.parameters))
        scale = math.gamma((freedom + 1) / 2) / math.gamma(freedom / 2) / math.sqrt(freedom * math.pi)
        t = np.geomspace(8, 1e6, 100_001)
        return 2 * quantities * float(np.trapezoid(scale * (1 + t * t / freedom) ** (-count / 2), t))

    assert alarms(REPLICAS) <= 1 / 20_000 < alarms(REPLICAS - 1)


def test_a_longer_run_than_the_golden_is_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(runs, "draw_envelope", asked.append)
    known_envelope(replace(RUN, steps=RUN.steps + 1))
    assert asked == [replace(RUN, steps=RUN.steps + 1)]


def test_a_step_at_which_honest_runs_may_part_is_not_judged(monkeypatch: pytest.MonkeyPatch, golden: Envelope) -> None:
    near = np.array([0, 2, 0])
    monkeypatch.setattr(runs, "known_envelope", lambda steps: Envelope(golden.expected, near))
    first, second = judge_step(ENVELOPE, Bench(InProcess()), 3)
    assert (first.status, second.status) == (Status.PASS, Status.MISTRUSTED)
    assert second.reason == "2 routing choices lie within the noise: honest runs part at this step"


def test_honest_arithmetic_of_another_arrangement_lies_within(golden: Envelope) -> None:
    known = implementations()
    first = next(honest_run(ByImplementation(known["rearranged"], known["float32"]), golden, RUN))
    assert first.status is Status.PASS
    assert 0 < first.share < 1


def test_a_damaged_golden_is_the_judges_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(id: str) -> None:
        raise GoldenError(TRAINING_RUNS[RUN], "a golden file", "damage")  # type: ignore[arg-type]

    monkeypatch.setattr(runs, "load_tensors", damaged)
    [result] = judge_step(ENVELOPE, Bench(InProcess()))
    assert result.status is Status.MISTRUSTED


def test_a_run_ends_where_the_library_does() -> None:
    class Dies(InProcess):
        steps = 0

        def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
            self.steps += function is step
            return super().call(function, *arguments) if self.steps < 3 else Outcome("timed out", detail="no answer")

    *fine, last = judge_step(ENVELOPE, Bench(Dies()))
    assert [r.status for r in fine] == [Status.PASS] * 2
    assert (last.id, last.status, last.detail) == ("step/envelope/03", Status.TIMED_OUT, "no answer")


def test_a_library_that_lacks_operations_is_not_run() -> None:
    [result] = judge_step(ENVELOPE, Bench(InProcess("multi_adamw")))
    assert (result.status, result.reason) == (Status.NOT_RUN, "the library does not export cuda_multi_adamw")
