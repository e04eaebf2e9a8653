"""A row or a column added to a matrix, and the dense layer: product, bias and activation in one.

The activation is a number of the header (ASSAYER_LINEAR to ASSAYER_GELU_TANH); alpha is that of leaky ReLU and ELU.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reference.arrays import Array, accumulate, check, check_same_shape, ieee

from . import activations as ops
from .blocks import product


@ieee
def add_row(input: Array, row: Array) -> Array:
    """The row to each row of input. input: (rows, cols), row: (cols,). Raises ValueError for other shapes."""
    _check_length("add_row", "row", row, input, 1)
    return input + row


@ieee
def add_row_backward(d_output: Array, d_row: Array | None, beta: float) -> Array:
    """The sum over rows of d_output (rows, cols), added to beta times d_row (cols,), which is not read at beta 0."""
    return accumulate(np.sum(d_output, axis=0), d_row, beta)


@ieee
def add_column(input: Array, column: Array) -> Array:
    """The column to each column of input. input: (rows, cols), column: (rows,). Raises ValueError for other shapes."""
    _check_length("add_column", "column", column, input, 0)
    return input + column.reshape(-1, 1)


@ieee
def add_column_backward(d_output: Array, d_column: Array | None, beta: float) -> Array:
    """The sum over columns of d_output (rows, cols), added to beta times d_column (rows,), not read at beta 0."""
    return accumulate(np.sum(d_output, axis=1), d_column, beta)


@ieee
def dense(
    input: Array, weight: Array, bias: Array | None, activation: int, alpha: float, has_bias: int
) -> tuple[Array, Array]:
    """pre = input . weight^T + bias, and output = f(pre): (rows, out_features) both.

    input: (rows, in_features), weight: (out_features, in_features), bias: (out_features,), not read where has_bias is
    0. Raises ValueError for other shapes, and for an activation that has no number.
    """
    forward, _ = _functions("dense", activation)
    _check_weight("dense", input, weight)
    pre = product(input, weight.T)
    if has_bias:
        if bias is None:
            raise ValueError("dense: bias: expected an array, as has_bias is not 0, got None")
        _check_length("dense", "bias", bias, pre, 1)
        pre = pre + bias
    return pre, forward(pre, alpha)


@ieee
def dense_backward(
    input: Array, weight: Array, pre: Array, d_output: Array, d_weight: Array | None, d_bias: Array | None,
    activation: int, alpha: float, beta: float,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """d_pre, d_input, d_weight and d_bias of dense; the last two are added to beta times those given (unread at 0).

    Shapes are those of dense, d_output and d_pre as pre. Raises ValueError as dense does.
    """
    _, backward = _functions("dense_backward", activation)
    _check_weight("dense_backward", input, weight)
    check_same_shape("dense_backward", pre=pre, d_output=d_output)
    expected = (input.shape[0], weight.shape[0])
    check(pre.shape == expected, "dense_backward", "pre", f"the shape {expected}", pre.shape)
    d_pre = backward(pre, d_output, alpha)
    new_weight = accumulate(product(d_pre.T, input), d_weight, beta)
    return d_pre, product(d_pre, weight), new_weight, add_row_backward(d_pre, d_bias, beta)


Forward = Callable[[Array, float], Array]
Backward = Callable[[Array, Array, float], Array]  # of pre, d_output and alpha


def _leaky_relu(x: Array, alpha: float) -> Array:
    """activations.leaky_relu without a choice, which an error of x could turn where x is near 0."""
    return np.maximum(x, 0.0) + alpha * np.minimum(x, 0.0)


def _elu(x: Array, alpha: float) -> Array:
    """activations.elu, likewise."""
    return np.maximum(x, 0.0) + alpha * (np.exp(np.minimum(x, 0.0)) - 1.0)


# By the header's numbers; gradients are those of the activations, of an x that is given and has no error.
ACTIVATIONS: tuple[tuple[Forward, Backward], ...] = (
    (lambda x, alpha: np.positive(x), lambda x, d, alpha: np.positive(d)),
    (lambda x, alpha: ops.relu(x), lambda x, d, alpha: ops.relu_backward(x, d)),
    (_leaky_relu, ops.leaky_relu_backward),
    (_elu, ops.elu_backward),
    (lambda x, alpha: ops.sigmoid(x), lambda x, d, alpha: ops.sigmoid_backward(ops.sigmoid(x), d)),
    (lambda x, alpha: ops.tanh(x), lambda x, d, alpha: ops.tanh_backward(ops.tanh(x), d)),
    (lambda x, alpha: ops.gelu(x), lambda x, d, alpha: ops.gelu_backward(x, d)),
    (lambda x, alpha: ops.gelu_tanh(x), lambda x, d, alpha: ops.gelu_tanh_backward(x, d)),
)


def _functions(operation: str, activation: int) -> tuple[Forward, Backward]:
    last = len(ACTIVATIONS) - 1
    check(0 <= activation <= last, operation, "activation", f"0 (linear) to {last} (GELU by tanh)", activation)
    return ACTIVATIONS[activation]


def _check_weight(operation: str, input: Array, weight: Array) -> None:
    check(weight.shape[1] == input.shape[1], operation, "weight", f"{input.shape[1]} columns", weight.shape[1])


def _check_length(operation: str, name: str, vector: Array, matrix: Array, axis: int) -> None:
    expected = (matrix.shape[axis],)
    check(vector.shape == expected, operation, name, f"the shape {expected}", vector.shape)
