"""Mixed precision judged: locked steps and training runs in both formats, and the wrong readings of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from conformance.judging.bench import Bench
from conformance.judging.results import Status
from conformance.judging.verdict import judge
from conformance.limits.envelope import RUNS, Envelope, Run, beginning, follow, operations, standing_by_step
from conformance.limits.envelope.replicas import REPLICAS, replica
from conformance.proof.readings.mixed import RUNS_IN_16_BITS, run_of
from conformance.steps import STEPS, judge_step
from conformance.steps.locked import MIXED
from conformance.steps.runs import compare_run, known_envelope, part_of
from reference.readings import Reading
from tests.conformance.steps.test_steps import InProcess
from training.readings.mixed import READINGS
from training.step import Step

IN_16_BITS = list(RUNS_IN_16_BITS.values())


def _names(run: Any) -> str:
    return str(run.precision.format)


@pytest.mark.parametrize("name", MIXED)
def test_every_call_of_a_locked_step_is_judged(name: str) -> None:
    results = judge_step(f"step{name}/locked", Bench(InProcess()))
    assert {result.status for result in results} == {Status.PASS}
    format = name.partition("-")[2]
    called = {result.operation for result in results}
    assert {f"gemm_{format}", f"attention_backward_{format}", "multi_nonfinite"} <= called


@pytest.mark.parametrize("run", IN_16_BITS, ids=_names)
def test_the_reference_in_float32_lies_within(run: Run) -> None:
    envelope = known_envelope(run)
    for place, after in enumerate(follow(reference, run, beginning(run))):
        result = compare_run(envelope, run, place, *after)
        assert result.status is Status.PASS, result.reason


@pytest.mark.parametrize("run", IN_16_BITS, ids=_names)
def test_a_replica_that_is_not_one_of_them_lies_within(run: Run) -> None:
    envelope, other = known_envelope(run), replica(REPLICAS + 1, run)
    for place in range(run.steps):
        loss = np.array(other.losses[place : place + 1], np.float32)
        assert judge("loss", envelope.expected["loss"][place : place + 1], loss).passed


def test_the_run_in_fp16_skips_grows_and_shrinks() -> None:
    [run] = [run for run in IN_16_BITS if run.precision.format == "fp16"]
    reports = [report for _, report in standing_by_step(run)]
    assert [report.skipped for report in reports] == [True, True, True, False, False, True, False, False]
    scales = [np.log2(report.scale) for report in reports]
    assert scales == [19, 18, 17, 16, 16, 17, 16, 16]


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_every_reading_leaves_a_run(reading: Reading) -> None:
    envelopes: dict[Run, Envelope] = {run: known_envelope(run) for run in IN_16_BITS}
    with np.errstate(all="ignore"):
        assert any(not r.is_fine for run, envelope in envelopes.items() for r in run_of(reading, run, envelope))


def test_no_reading_is_mixed_precision_itself() -> None:
    run = IN_16_BITS[0]
    itself = Reading("mixed precision", "itself", "Nothing is wrong.", _itself)
    assert all(result.is_fine for result in run_of(itself, run, known_envelope(run)))


def _itself(ops: Any, config: Any, training: Any, precision: Any) -> Step:
    return Step(ops, config, training, precision=precision)


def test_every_run_is_one_of_the_steps() -> None:
    assert {part_of(run) for run in RUNS} <= set(STEPS)
    assert all("multi_nonfinite" in operations(run) for run in IN_16_BITS)
