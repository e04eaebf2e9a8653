"""One layer at the full model's sizes, here with a shorter inner axis: what is right passes, what is wrong is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from conformance.commands.selection import DEAR, Keywords, select
from conformance.ids import FULL_LAYER
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.steps import STEPS
from conformance.steps.full_layer import judge_full_layer
from tests.conformance.runs import InProcess

INNER = 300


def judged(**wrong: Any) -> list[Result]:
    return judge_full_layer(Bench(InProcess(**wrong)), INNER)


def test_an_honest_layer_passes_every_call() -> None:
    results = judged()
    assert [(r.id, r.reason) for r in results if r.status is not Status.PASS] == []
    names = [r.id.partition(" ")[2] for r in results]
    assert {"grouped_gemm(gate)", "grouped_gemm_nn(down)", "swiglu", "rmsnorm_residual_backward(attn_norm)"} <= {*names}
    elements = {v.elements for r in results if r.operation == "grouped_gemm_tn" for v in r.verdicts}
    assert elements == {16 * INNER * 768}


def _past(A: Any, B: Any, offsets: Any) -> Any:
    """Of the last expert's columns the last eight are not added up."""
    B = B.copy()
    B[-1, :, -8:] = 0
    return reference.grouped_gemm(A, B, offsets)


def _one_row(gate: Any, up: Any) -> Any:
    output = reference.swiglu(gate, up)
    output[-INNER:] = output[:INNER]
    return output


def _moved(A: Any, B: Any, offsets: Any, C: Any, beta: float) -> Any:
    gradient = reference.grouped_gemm_tn(A, B, offsets, C, beta)
    return np.roll(gradient, 1, axis=1) if gradient.shape[1] == INNER else gradient


WRONG = {"grouped_gemm": (_past, 3), "swiglu": (_one_row, 1), "grouped_gemm_tn": (_moved, 2)}


@pytest.mark.slow
@pytest.mark.parametrize("operation", WRONG)
def test_a_wrong_operation_fails_by_itself(operation: str) -> None:
    wrong, calls = WRONG[operation]
    failed = [r for r in judged(**{operation: wrong}) if r.status is not Status.PASS]
    assert {r.operation for r in failed} == {operation}
    assert 1 <= len(failed) <= calls


def test_it_is_left_out_with_other_calls_at_full_size() -> None:
    assert FULL_LAYER in STEPS
    everything, [full] = select(Keywords("")), [dear for dear in DEAR if dear.word == "full"]
    assert FULL_LAYER in everything.steps
    assert FULL_LAYER not in everything.without_dear(full).steps
    asked = select(Keywords("full"))
    assert FULL_LAYER in asked.without_dear(full).steps
