"""Whole training steps of a library that computes its products on tensor cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reference
from conformance import operations
from conformance.candidates.worker.outcome import Outcome
from conformance.judging.bench import Bench
from conformance.judging.results import Result
from conformance.limits import HEADER, Contract, read_contract
from conformance.limits.noise import FORMATS
from conformance.steps import free, judge_step
from conformance.steps.whole import missing
from conformance.variants.honest.tensor_cores import tensor_cores
from tests.conformance.runs import InProcess


class OnTensorCores:
    """The reference in float32, the factors of its products rounded."""

    def __init__(self, format: str) -> None:
        self.kind = tensor_cores(FORMATS[format])[f"{format} truncating by 8, ties away"]

    def __getattr__(self, operation: str) -> Any:
        def call(**arguments: Any) -> Any:
            if read_contract("tf32").of(operation).inputs == "tf32":
                arguments = {n: v.view(self.kind) if _is_float(v) else v for n, v in arguments.items()}
            with np.errstate(all="ignore"):
                right = getattr(reference, operation)(**arguments)
                results = operations.by_name(operations.OPERATIONS[operation], right)
            stored = tuple(_stored(value) for value in results.values())
            return stored if len(stored) > 1 else stored[0]

        return call


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float32


def _stored(value: Any) -> Any:
    if isinstance(value, list):
        return [_stored(v) for v in value]
    return np.asarray(value, np.float32) if value.dtype.kind == "f" else value


def judged(format: str, declared: Contract) -> list[Result]:
    class Here(InProcess):
        def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
            if function is missing:
                return Outcome("done", value=[])
            return Outcome("done", value=free.run_library(OnTensorCores(format), *arguments))

    return judge_step("steps/free", Bench(Here(), declared=declared))


@pytest.mark.slow
def test_a_step_on_tensor_cores_is_right_where_they_are_declared() -> None:
    """Its routing is followed where it is open, and so every result after it is judged."""
    results = judged("tf32", read_contract("tf32"))
    assert [result.id for result in results if not result.is_fine] == []
    assert max(result.share for result in results) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("format", "declared"), [("bfloat16", read_contract("tf32")), ("tf32", HEADER)])
def test_a_step_coarser_than_declared_is_wrong_from_the_first_product_on(format: str, declared: Contract) -> None:
    wrong = [result.id for result in judged(format, declared) if not result.is_fine]
    assert wrong[0] == "steps/free/1.003 gemm(layers.0.w_q)"
