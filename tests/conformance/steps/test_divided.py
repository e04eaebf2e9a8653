"""A divided batch as a case: wrong accumulation is found, in a library and in every wrong reading of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import reference
from conformance.candidates.worker.outcome import Outcome
from conformance.judging.bench import Bench
from conformance.judging.results import Status
from conformance.limits import HEADER, Declaration
from conformance.limits.choices import near_choices
from conformance.limits.namespaces import OnFloat32, converted
from conformance.limits.noise import exact
from conformance.proof.readings.divided import try_division
from conformance.steps import DIVIDED, judge_step
from conformance.steps.divided import DIVISIONS, batch, beginning, run
from reference.model import transformer
from reference.readings import Reading
from reference.readings.accumulation import READINGS, itself
from tests.conformance.steps.test_steps import InProcess, judged
from tests.reference.model_samples import Recorded


@pytest.mark.slow
def test_gradients_that_are_assigned_are_found() -> None:
    def gemm_tn(A: Any, B: Any, C: Any, alpha: float, beta: float) -> Any:
        return reference.gemm_tn(A, B, None, alpha=alpha, beta=0.0)

    results = {result.id: result for result in judged(DIVIDED, gemm_tn=gemm_tn)}
    assert list(results) == [f"steps/divided/{text}" for text in DIVISIONS]
    failed = [id for id, result in results.items() if result.status is Status.FAIL]
    assert failed == [f"steps/divided/{text}" for text, of in DIVISIONS.items() if of.micro_batches > 1]
    assert all(results[id].reason.startswith("not the update of the whole: ") for id in failed)


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_a_wrong_reading_is_refused(reading: Reading) -> None:
    assert not all(try_division(text, [reading])[0].passed for text in DIVISIONS)


@pytest.mark.parametrize("text", DIVISIONS)
def test_the_step_itself_is_accepted(text: str) -> None:
    [told] = try_division(text, [Reading("accumulation", "none", "It is right.", itself)])
    assert told.passed


@pytest.mark.parametrize("aux_alpha", {division.aux_alpha for division in DIVISIONS.values()})
def test_no_routing_choice_lies_within_the_noise(aux_alpha: float) -> None:
    config = replace(DIVISIONS["ranks:4"].config, aux_alpha=aux_alpha)
    state = converted(beginning(config), lambda array: exact(array, worst=False))
    logits = Recorded(OnFloat32(), "gemm")
    transformer.forward(logits, config, state.parameters, batch()[0])
    routers = [result for result in logits.results if result.shape[1] == config.experts]
    assert len(routers) == config.layers
    assert [near_choices(router, config.top_k) for router in routers] == [0] * config.layers


def test_a_library_that_lacks_operations_is_not_run() -> None:
    [result] = judge_step(DIVIDED, Bench(InProcess("rmsnorm", "embedding", "sample")))
    assert (result.status, result.id) == (Status.NOT_RUN, DIVIDED)


def test_a_coarser_precision_is_not_judged_by_it() -> None:
    declared = replace(HEADER, defaults=Declaration(deterministic=False))
    [result] = judge_step(DIVIDED, Bench(InProcess(), declared=declared))
    assert (result.status, result.id) == (Status.TOO_FINE, DIVIDED)


def test_a_library_that_does_not_come_back_is_reported_as_such() -> None:
    class Dies(InProcess):
        def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
            return Outcome("crashed", detail="SIGSEGV") if function is run else super().call(function)

    [result] = judge_step(DIVIDED, Bench(Dies()))
    assert (result.status, result.detail) == (Status.CRASHED, "SIGSEGV")
