"""Usual calls go the quick way; the tests of calls and refusals hold for both ways."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from bindings import Library, read_header
from bindings.calls.quick import UNUSUAL, has_quick
from bindings.header.parser import parse_header
from bindings.header.signature import Signature
from tests.bindings.spy import Spy
from tests.bindings.valid import arguments_of

OPERATIONS = read_header().operations
FRESH = ("relu", "conv2d", "lstm_backward", "batchnorm_evaluation", "gemm_nn", "layernorm", "cross_entropy_forward")
UPDATED = ("adamw_step", "batchnorm_training", "gemm_tn", "layernorm_backward", "momentum_step", "scatter_add")
CAREFUL = ("grad_clip", "map_strided", "multi_adamw")  # a workspace, any layout, lists


def quickly(library: Library, operation: str, **changed: Any) -> Any:
    return getattr(library, operation)._quick(**arguments_of(OPERATIONS[operation], random.Random(operation)) | changed)


def not_given(operation: str) -> dict[str, Any]:
    """Nothing in place of arrays that are updated."""
    updated = [p.name for p in OPERATIONS[operation].parameters if p.direction == "updated"]
    return dict.fromkeys(updated) | ({"beta": 0.0} if updated else {})


def given(operation: str) -> dict[str, Any]:
    """Those that are updated, one of them for each."""
    parameters = OPERATIONS[operation].parameters
    arguments = arguments_of(OPERATIONS[operation], random.Random(operation))
    return {p.name: arguments[p.name] for p in parameters if p.direction == "updated"}


@pytest.mark.parametrize("operation", FRESH)
def test_a_usual_call_is_served(operation: str, spy: Spy) -> None:
    assert quickly(spy.library, operation, **not_given(operation)) is not UNUSUAL


@pytest.mark.parametrize("operation", UPDATED)
def test_what_is_updated_is_updated_in_place(operation: str, spy: Spy) -> None:
    arrays = given(operation)
    results = quickly(spy.library, operation, **arrays)
    assert results is not UNUSUAL
    returned = results if isinstance(results, tuple) else (results,)
    assert all(any(result is array for result in returned) for array in arrays.values())


@pytest.mark.parametrize("operation", UPDATED)
def test_what_is_updated_cannot_be_read_only(operation: str, spy: Spy) -> None:
    for name, array in given(operation).items():
        fixed = array.copy()
        fixed.flags.writeable = False
        assert quickly(spy.library, operation, **{name: fixed}) is UNUSUAL


@pytest.mark.parametrize("shift", [-3, 0, 3])
@pytest.mark.parametrize("other", ["A", "B"])
def test_what_is_updated_lies_apart(other: str, shift: int, spy: Spy) -> None:
    memory = np.zeros(64, np.float32)
    apart = {name: np.zeros((4, 4), np.float32) for name in ("A", "B")}
    lying = {other: memory[16:32].reshape(4, 4), "C": memory[16 + 5 * shift :][:16].reshape(4, 4)}
    assert quickly(spy.library, "gemm_nn", **apart | lying, beta=1.0) is UNUSUAL
    beside = {other: memory[16:32].reshape(4, 4), "C": memory[32:48].reshape(4, 4)}
    assert quickly(spy.library, "gemm_nn", **apart | beside, beta=1.0) is beside["C"]


def test_two_that_are_updated_lie_apart(spy: Spy) -> None:
    state = given("momentum_step")
    assert quickly(spy.library, "momentum_step", **state) is not UNUSUAL
    assert quickly(spy.library, "momentum_step", **dict.fromkeys(state, state["velocity"])) is UNUSUAL


@pytest.mark.parametrize("operation", CAREFUL)
def test_what_takes_more_checks_has_no_quick_way(operation: str, spy: Spy) -> None:
    named = getattr(spy.library, operation)
    assert not has_quick(named.signature)
    assert named._quick is None


@pytest.mark.parametrize("size", ["n", "OR_ZERO(n)"])
def test_a_tensor_of_any_layout_has_no_quick_way(size: str) -> None:
    text = (
        f"int32_t cuda_sum(const float* x SHAPE({size}) STRIDED(shape, strides, offset),"
        " const int64_t* shape HOST SHAPE(axes), const int64_t* strides HOST SHAPE(axes), float* output SHAPE(1),"
        " int64_t n, int axes, int64_t offset, void* stream);"
    )
    assert not has_quick(Signature(parse_header(text).operations["sum"]))


@pytest.mark.parametrize(
    "changed",
    [
        {"input": np.ones(3, np.float64)},
        {"input": np.ones((3, 1), np.float32)},
        {"input": np.ones(6, np.float32)[::2]},
        {"input": np.ones(0, np.float32)},
        {"input": [1.0]},
        {"alpha": 1},
        {"alpha": float("nan")},
        {"alpha": 1e39},
    ],
    ids=str,
)
def test_anything_else_is_left_to_the_careful_way(changed: dict[str, Any], spy: Spy) -> None:
    assert quickly(spy.library, "leaky_relu", **changed) is UNUSUAL


@pytest.mark.parametrize("index", [-2, 1_000_000])
def test_an_index_beyond_its_range_is_left_to_the_careful_way(index: int, spy: Spy) -> None:
    arguments = arguments_of(OPERATIONS["max_pool2d_backward"], random.Random("max_pool2d_backward"))
    places = np.zeros_like(arguments["places"])
    assert quickly(spy.library, "max_pool2d_backward", places=places) is not UNUSUAL
    assert quickly(spy.library, "max_pool2d_backward", places=places + np.int32(index)) is UNUSUAL
