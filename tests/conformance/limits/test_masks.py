"""NaN and infinity beyond a causal mask: a kernel that passes them over is right, and one that weighs them by 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from conformance.limits.expectation import expect

LENGTH, WIDTH = 5, 4
Arguments = dict[str, Any]


def given() -> Arguments:
    source = np.random.default_rng(0)
    names = ("Q", "K", "V", "d_output")
    return {name: source.normal(size=(1, LENGTH, 1, WIDTH)).astype(np.float32) for name in names} | {"scale": 0.5}


def forward(made: Arguments) -> Arguments:
    return {name: made[name] for name in ("Q", "K", "V", "scale")} | {"kv_len": LENGTH}


def backward(made: Arguments) -> Arguments:
    output, lse = reference.attention_forward(made["Q"], made["K"], made["V"], LENGTH, made["scale"])
    finite = {"output": np.nan_to_num(output, nan=0.5), "lse": np.nan_to_num(lse, nan=0.5)}
    return {name: made[name] for name in ("Q", "K", "V", "d_output", "scale")} | finite


def unknown(operation: str, arguments: Arguments) -> dict[str, Any]:
    """For every output whether a position has elements of which nothing is known."""
    found = {}
    for name, value in expect(operation, arguments).items():
        shape = value.variance.shape
        positions = value.variance.reshape(LENGTH, -1) if shape[1] == LENGTH else value.variance[0, 0][:, None]
        found[name] = np.isinf(positions).any(axis=1).tolist()
    return found


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_no_number_leaves_open_what_comes_of_the_queries_before_it(value: float) -> None:
    made = given()
    made["V"][0, 3, 0, 1] = value
    assert unknown("attention_forward", forward(made)) == {"output": [True] * 3 + [False] * 2, "lse": [False] * 5}


def test_a_query_s_gradient_does_not_hang_on_keys_that_it_does_not_see() -> None:
    made = given()
    made["K"][0, 4, 0, 0] = np.nan
    assert unknown("attention_backward", backward(made))["d_Q"] == [True] * 4 + [False]


def test_an_infinite_gradient_leaves_open_what_comes_of_the_keys_behind_it() -> None:
    made = given()
    made["d_output"][0, 1, 0, 2] = np.inf
    found = unknown("attention_backward", backward(made))
    assert found["d_V"] == found["d_K"] == [False] * 2 + [True] * 3


def test_a_log_sum_exp_that_is_no_number_masks_as_any_other() -> None:
    arguments = backward(given())
    arguments["lse"][0, 0, 1] = np.nan
    assert unknown("attention_backward", arguments)["d_K"] == [False] * 2 + [True] * 3


def test_what_every_query_sees_is_known() -> None:
    made = given()
    made["V"][0, 0, 0, 1] = np.nan
    assert not any(map(any, unknown("attention_forward", forward(made)).values()))
    assert not any(map(any, unknown("attention_forward", forward(given())).values()))
