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
QUICK = ("relu", "conv2d", "lstm_backward", "batchnorm_evaluation", "gemm_nn", "layernorm", "cross_entropy_forward")
CAREFUL = ("scatter_add", "multi_adamw", "momentum_step")  # updated, lists


def quickly(library: Library, operation: str, **changed: Any) -> Any:
    function = OPERATIONS[operation]
    arguments = arguments_of(function, random.Random(operation)) | changed
    updated = {p.name: None for p in function.parameters if p.direction == "updated"}
    named = getattr(library, operation)
    return named._quick(**arguments | updated | ({"beta": 0.0} if "beta" in arguments else {}))


@pytest.mark.parametrize("operation", QUICK)
def test_a_usual_call_is_served(operation: str, spy: Spy) -> None:
    assert quickly(spy.library, operation) is not UNUSUAL


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
