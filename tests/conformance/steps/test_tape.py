"""The model on the tape as a case: honest libraries pass, and of a wrong one the operation that went wrong is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from bindings import Library
from conformance import operations
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.steps import TAPE, judge_step
from tensors.numbers import MAPS, REDUCTIONS, ZIPS
from tests.conformance.steps.test_resident import Worker
from tests.conformance.steps.test_steps import judged


@pytest.mark.parametrize("build", ["stub", "emulated"])
def test_a_library_passes(build: str, request: pytest.FixtureRequest) -> None:
    results = judge_step(TAPE, Bench(Worker(Library(request.getfixturevalue(f"{build}_path")))))
    assert {result.status for result in results} == {Status.PASS}
    assert "steps/tape/layers.1.gate" in {result.id for result in results}


def wrong_function(kind: str, number: int, change: Any) -> Any:
    """An operation of which one function's results are changed."""

    def call(*args: Any, **named: Any) -> Any:
        given = operations.signature(operations.OPERATIONS[kind]).named(args, named)
        found = getattr(reference, kind)(**given)
        return change(found, given) if given["function"] == number else found

    return call


def rounded(found: Any, named: Any) -> Any:
    """To 12 bits, as TF32 has."""
    mantissa, exponent = np.frexp(found)
    return np.ldexp(np.round(mantissa * 2.0**11) / 2.0**11, exponent)


def assigned(grad_output: Any, indices: Any, grad_weight: Any) -> Any:
    """A gradient whose repeated rows overwrite each other."""
    found = grad_weight.copy()
    found[indices] = grad_output
    return found


def one_less(found: Any, named: Any) -> Any:
    """Without the last of the elements that are reduced, wherever there are several."""
    kept = len(named["output_strides"])
    shape = np.array(named["shape"])
    if len(shape) == kept or shape[-1] < 2:
        return found
    return reference.reduce_strided(**{**named, "shape": np.array([*shape[:-1], shape[-1] - 1])})


def unstretched(max_seq_len: int, head_dim: int, base: float, alpha: float) -> Any:
    return reference.rope_freqs(max_seq_len, head_dim, base, 1.0)


PLANTED: dict[str, tuple[dict[str, Any], str]] = {
    "TF32 factors": (
        {"zip_strided": wrong_function("zip_strided", ZIPS["multiply"], rounded)},
        "zip_strided(multiply)",
    ),
    "a short rsqrt": ({"map_strided": wrong_function("map_strided", MAPS["rsqrt"], rounded)}, "map_strided(rsqrt)"),
    "sums without the last": (
        {"reduce_strided": wrong_function("reduce_strided", REDUCTIONS["sum"], one_less)},
        "reduce_strided(sum)",
    ),
    "largest of all but the last": (
        {"reduce_strided": wrong_function("reduce_strided", REDUCTIONS["maximum"], lambda found, _: found - 1e3)},
        "reduce_strided(maximum)",
    ),
    "overwritten gradients": ({"scatter_add": assigned}, "scatter_add"),
    "angles of another base": ({"rope_freqs": unstretched}, "rope_freqs"),
}


def failed(**wrong: Any) -> list[Result]:
    return [result for result in judged(TAPE, **wrong) if result.status is Status.FAIL]


@pytest.mark.parametrize("name", PLANTED)
def test_a_disagreement_names_the_operation(name: str) -> None:
    wrong, operation = PLANTED[name]
    first, *others = failed(**wrong)
    assert first.id.startswith(f"{TAPE}/0")
    assert first.id.endswith(f" {operation}")
    assert first.operation == operation.partition("(")[0]
    assert others
    since = f"; off since {first.id.removeprefix('steps/tape/')}"
    assert [result.id for result in others if not result.reason.endswith(since)] == []


def test_what_is_wrong_only_on_the_way_back_leaves_the_loss() -> None:
    names = [result.id for result in failed(scatter_add=assigned)]
    assert "steps/tape/loss" not in names
    assert "steps/tape/embedding" in names
    assert "steps/tape/lm_head" not in names  # which no gathered row leads to
