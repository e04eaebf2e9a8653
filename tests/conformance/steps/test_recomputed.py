"""Gradient checkpointing as a case: calls that leave something behind do not give the plain step's bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import reference
from conformance.candidates.worker.outcome import Outcome
from conformance.judging.bench import Bench
from conformance.judging.results import Status
from conformance.limits import HEADER, Declaration
from conformance.steps import RECOMPUTED, judge_step
from conformance.steps.recomputed import run
from tests.conformance.steps.test_steps import InProcess, judged


def test_a_call_that_a_former_one_changes_is_found() -> None:
    calls = 0

    def swiglu(gate: Any, up: Any) -> Any:
        nonlocal calls
        calls += 1
        return reference.swiglu(gate, up) * (1.0 + 2.0**-20 * (calls % 2))

    first, second = judged(RECOMPUTED, swiglu=swiglu)
    assert (first.status, second.status) == (Status.FAIL, Status.FAIL)
    assert [first.id, second.id] == ["steps/recomputed/every:2", "steps/recomputed/boundaries:2"]
    assert first.reason.startswith("not the plain step's bits: ")


def test_a_call_that_changes_what_it_reads_is_found() -> None:
    def rmsnorm(input: Any, weight: Any, eps: float) -> Any:
        output = reference.rmsnorm(input, weight, eps)
        input *= 1.5
        return output

    every, boundaries = judged(RECOMPUTED, rmsnorm=rmsnorm)
    assert every.status is Status.PASS  # the first layer, whose norm has no residual, is not computed again
    assert boundaries.status is Status.FAIL


def test_a_library_that_lacks_operations_is_not_run() -> None:
    [result] = judge_step(RECOMPUTED, Bench(InProcess("rmsnorm", "embedding", "sample")))
    assert (result.status, result.id) == (Status.NOT_RUN, RECOMPUTED)
    assert result.reason == "the library does not export cuda_embedding, nor 1 more that a step needs"


def test_of_a_library_that_is_not_deterministic_nothing_is_asked() -> None:
    declared = replace(HEADER, defaults=Declaration(deterministic=False))
    [result] = judge_step(RECOMPUTED, Bench(InProcess(), declared=declared))
    assert result.status is Status.TOO_FINE
    assert "is declared not to give the same bits twice" in result.reason


def test_a_library_that_does_not_come_back_is_reported_as_such() -> None:
    class Dies(InProcess):
        def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
            return Outcome("crashed", detail="SIGSEGV") if function is run else super().call(function)

    [result] = judge_step(RECOMPUTED, Bench(Dies()))
    assert (result.status, result.detail) == (Status.CRASHED, "SIGSEGV")
