"""A row or a column added to as many rows as a step has, and the dense layer of its feed-forward's sizes."""

from __future__ import annotations

from typing import Any

from conformance.catalogue.cases.broadcast import GELU_TANH
from conformance.catalogue.cases.recurrent import weights
from conformance.catalogue.cases.spec import nan
from conformance.catalogue.full_model import FFN, HIDDEN
from conformance.limits.noise.counted import counted_matmul, counted_sum
from reference.arrays import accumulate
from reference.ops.broadcast import ACTIVATIONS

from .call import FullCall, Placed
from .rows import TOKENS
from .sums import CarriedOut

Array = Any
_MATRIX = {"rows": TOKENS, "cols": HIDDEN}
_LAYER = {"rows": TOKENS // 4, "in_features": HIDDEN, "out_features": FFN, "activation": GELU_TANH, "alpha": 1.0}
_WHY_QUARTER = "2,048 tokens: with 8,192 forward and backward are 0.23 * 10^12 multiplications in the two runs"


def _add_row_backward(places: Placed) -> CarriedOut:
    """The sum is over rows."""
    rows = places["rows"]

    def function(d_output: Array, d_row: Array, beta: float) -> Array:
        return accumulate(counted_sum(d_output, rows.member, rows.factor), d_row, beta)

    return function


def _dense_backward(places: Placed) -> CarriedOut:
    """d_weight and d_bias sum over rows, each of which stands there as it was drawn."""
    rows = places["rows"]

    def function(
        input: Array, weight: Array, pre: Array, d_output: Array, d_weight: Array, d_bias: Array, activation: int,
        alpha: float, beta: float,
    ) -> tuple[Array, Array, Array, Array]:  # fmt: skip
        d_pre = ACTIVATIONS[activation][1](pre, d_output, alpha)
        of_weight = counted_matmul(d_pre.T, input, rows.counts)
        of_bias = counted_sum(d_pre, rows.member)
        return d_pre, d_pre @ weight, accumulate(of_weight, d_weight, beta), accumulate(of_bias, d_bias, beta)

    return function


CALLS = (
    FullCall("add_row", _MATRIX, {"rows": 61, "cols": 67}),
    FullCall("add_column", _MATRIX, {"rows": 61, "cols": 67}),
    FullCall(
        "add_row_backward",
        {**_MATRIX, "beta": 1.0},
        {"rows": 61, "cols": 67},
        scaled={"cols": ("d_output", "d_row")},
        carried_out=_add_row_backward,
    ),
    FullCall("add_column_backward", {**_MATRIX, "beta": 1.0}, {"rows": 61}, scaled={"rows": ("d_output", "d_column")}),
    FullCall(
        "dense",
        {**_LAYER, "has_bias": 1},
        {"rows": 61, "out_features": 67},
        {"weight": weights()},
        why=_WHY_QUARTER,
    ),
    FullCall(
        "dense_backward",
        {**_LAYER, "beta": 0.0},
        {"rows": 31, "in_features": 37},
        {"d_weight": nan, "d_bias": nan},
        scaled={"in_features": ("input", "weight", "d_input", "d_weight")},
        carried_out=_dense_backward,
        why=_WHY_QUARTER,
    ),
)
