"""Two settings of one operation, or two operations, that come to the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reference
from tests.reference.samples import arguments


def results_of(returned: Any) -> tuple[Any, ...]:
    return returned if isinstance(returned, tuple) else (returned,)


# By the header's numbers; alpha is that of leaky ReLU and of ELU.
ACTIVATIONS: list[Callable[[Any, float], Any]] = [
    lambda x, alpha: x,
    lambda x, alpha: reference.relu(x),
    reference.leaky_relu,
    reference.elu,
    lambda x, alpha: reference.sigmoid(x),
    lambda x, alpha: reference.tanh(x),
    lambda x, alpha: reference.gelu(x),
    lambda x, alpha: reference.gelu_tanh(x),
]


@pytest.mark.parametrize("number", range(len(ACTIVATIONS)))
def test_dense_applies_the_activation_of_its_number(number: int) -> None:
    pre, output = reference.dense(**arguments("dense") | {"activation": number, "alpha": 0.75})
    assert (pre < 0).any()
    assert (pre > 0).any()
    np.testing.assert_array_equal(output, ACTIVATIONS[number](pre, 0.75))


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("scale", [0.4, 3.0])
def test_a_mask_that_is_not_there_hides_nothing(causal: int, scale: float) -> None:
    given = arguments("attention_softmax") | {"causal": causal, "scale": scale}
    nothing = np.zeros_like(given["mask"])
    np.testing.assert_array_equal(
        reference.attention_softmax(**given | {"has_mask": 0, "mask": None}),
        reference.attention_softmax(**given | {"has_mask": 1, "mask": nothing}),
    )


@pytest.mark.parametrize(
    ("operation", "array", "flag"),
    [
        ("dense", "bias", "has_bias"),
        ("conv2d", "bias", "has_bias"),
        ("rnn_forward", "bias", "has_bias"),
        ("rnn_forward", "h0", "has_h0"),
        ("lstm_forward", "bias", "has_bias"),
        ("gru_forward", "h0", "has_h0"),
    ],
)
def test_an_array_that_is_not_there_is_one_of_zeros(operation: str, array: str, flag: str) -> None:
    given = arguments(operation)
    function = getattr(reference, operation)
    without = function(**given | {array: None, flag: 0})
    zeros = function(**given | {array: np.zeros_like(given[array]), flag: 1})
    for one, other in zip(results_of(without), results_of(zeros), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("operation", "old"),
    [
        ("gemm_beta", "C"),
        ("gemm_nn", "C"),
        ("gemm_tn", "C"),
        ("gemm_tt", "C"),
        ("grouped_gemm_tn", "C"),
        ("rmsnorm_backward", "d_weight"),
        ("rmsnorm_residual_backward", "d_weight"),
        ("add_row_backward", "d_row"),
        ("add_column_backward", "d_column"),
        ("conv2d_backward_weight", "d_weight"),
        ("conv2d_backward_bias", "d_bias"),
    ],
)
def test_what_is_not_read_may_be_missing(operation: str, old: str) -> None:
    given = arguments(operation) | {"beta": 0.0}
    results = [
        getattr(reference, operation)(**given | {old: array}) for array in (None, np.full_like(given[old], np.nan))
    ]
    for missing, unread in zip(*map(results_of, results), strict=True):
        np.testing.assert_array_equal(missing, unread)
        assert np.isfinite(missing).all()
