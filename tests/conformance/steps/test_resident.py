"""Resident steps as a case: every build gives the bits of host arrays, and what does not is told how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import Library
from bindings.shared_object.foreign import SharedObject, pointer
from conformance.candidates.worker.outcome import Outcome
from conformance.judging.bench import Bench
from conformance.judging.results import Status
from conformance.limits import HEADER, Declaration
from conformance.steps import RESIDENT, judge_step
from conformance.steps.resident import run
from tests.conformance.steps.test_steps import InProcess

WAYS = ["steps/resident/called", "steps/resident/captured", "steps/resident/decoding"]


class Worker:
    """Calls a library in this process."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
        return Outcome("done", 0, value=function(self._library, *arguments))


class Returns(InProcess):
    """A worker whose library has these results of steps: on host arrays, and by every way."""

    def __init__(self, expected: Any, ways: Any) -> None:
        super().__init__()
        self._value = expected, ways

    def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
        return Outcome("done", 0, value=self._value) if function is run else super().call(function)


@pytest.mark.parametrize("build", ["stub", "emulated"])
def test_a_library_passes(build: str, request: pytest.FixtureRequest, device_memory: None) -> None:
    results = judge_step(RESIDENT, Bench(Worker(Library(request.getfixturevalue(f"{build}_path")))))
    assert [(result.id, result.status, result.reason) for result in results] == [(id, Status.PASS, "") for id in WAYS]


def test_an_operation_that_leaves_its_stream_is_found(
    emulated_path: Path, device_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Called it does no harm here, but what is captured has a hole."""
    entry = SharedObject.entry

    def on_the_default_stream(self: SharedObject, symbol: str, types: Sequence[str]) -> Any:
        found = entry(self, symbol, types)
        assert found is not None
        return (lambda *raw: found(*raw[:-1], pointer(0))) if symbol == "cuda_grouped_gemm_swiglu" else found

    monkeypatch.setattr(SharedObject, "entry", on_the_default_stream)
    results = judge_step(RESIDENT, Bench(Worker(Library(emulated_path))))
    assert [result.id for result in results if result.status is Status.FAIL] == ["steps/resident/captured"]


def test_what_differs_and_what_is_refused_is_told() -> None:
    expected = {"lm_head": np.ones(3, np.float32), "tokens": np.arange(3, dtype=np.int32)}
    called = {"lm_head": np.nextafter(expected["lm_head"], np.float32(2))}
    captured = "gemm: the library returned 900: an error code of the device's runtime"
    ways = {"called": called, "captured": captured, "decoding": {"tokens": expected["tokens"] + 1}}
    results = judge_step(RESIDENT, Bench(Returns(expected, ways)))
    assert [result.status for result in results] == [Status.FAIL] * 3
    assert results[0].reason.startswith("not the bits of host arrays: lm_head: ")
    assert results[1].reason == captured
    assert results[2].reason.startswith("not the bits of host arrays: tokens: ")


def test_a_library_that_lacks_operations_is_not_run() -> None:
    [result] = judge_step(RESIDENT, Bench(InProcess("rmsnorm", "embedding", "sample")))
    assert (result.status, result.id) == (Status.NOT_RUN, RESIDENT)


def test_of_a_library_that_is_not_deterministic_nothing_is_asked() -> None:
    declared = replace(HEADER, defaults=Declaration(deterministic=False))
    [result] = judge_step(RESIDENT, Bench(InProcess(), declared=declared))
    assert result.status is Status.TOO_FINE
