"""A row or a column added to a matrix, and the dense layer, one number at a time."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from . import activations
from .numbers import Matrix, Number, Vector, dot, exp, flat

# By the header's numbers.
FUNCTIONS: tuple[Callable[[Vector, Number], Vector], ...] = (
    lambda x, alpha: x,
    lambda x, alpha: activations.relu(x),
    activations.leaky_relu,
    activations.elu,
    lambda x, alpha: activations.sigmoid(x),
    lambda x, alpha: activations.tanh(x),
    lambda x, alpha: activations.gelu(x),
    lambda x, alpha: activations.gelu_tanh(x),
)


def add_row(input: Matrix, row: Vector) -> Matrix:
    return [[x + y for x, y in zip(line, row, strict=True)] for line in input]


def add_column(input: Matrix, column: Vector) -> Matrix:
    return [[x + y for x in line] for line, y in zip(input, column, strict=True)]


def _added(sums: Vector, old: Vector, beta: Number) -> Vector:
    return [total + (beta * old[i] if beta else Decimal(0)) for i, total in enumerate(sums)]


def add_row_backward(d_output: Matrix, d_row: Vector, beta: Number) -> Vector:
    return _added([sum(column, Decimal(0)) for column in zip(*d_output, strict=True)], d_row, beta)


def add_column_backward(d_output: Matrix, d_column: Vector, beta: Number) -> Vector:
    return _added([sum(line, Decimal(0)) for line in d_output], d_column, beta)


def dense(
    input: Matrix, weight: Matrix, bias: Vector, activation: int, alpha: Number, has_bias: int
) -> tuple[Matrix, Matrix]:
    pre = [[dot(x, w) + (bias[o] if has_bias else Decimal(0)) for o, w in enumerate(weight)] for x in input]
    return pre, [FUNCTIONS[activation](line, alpha) for line in pre]


def moved_output(activation: int, alpha: Number, pre: Vector, t: Vector) -> Vector:
    """Return f(pre + t); where f has two branches, of the branch that pre is on: at 0 f has no derivative."""
    pairs = list(zip(pre, t, strict=True))
    if activation == 1:
        return [y if x > 0 else Decimal(0) for x, y in pairs]
    if activation == 2:
        return [y if x > 0 else alpha * y for x, y in pairs]
    if activation == 3:
        return [y if x > 0 else alpha * (exp(x + y) - 1) for x, y in pairs]
    return FUNCTIONS[activation]([x + y for x, y in pairs], alpha)


def dense_potential(
    input: Matrix, weight: Matrix, pre: Matrix, d_output: Matrix, d_weight: Matrix, d_bias: Vector, activation: int,
    alpha: Number, beta: Number, by_pre: Matrix, by_input: Matrix, by_weight: Matrix, by_bias: Vector,
) -> Any:  # fmt: skip
    """What dense_backward is the derivative of, by changes of pre itself, of input, weight and bias."""
    total = beta * (dot(flat(d_weight), flat(by_weight)) + dot(d_bias, by_bias)) if beta else Decimal(0)
    for x, line, d, by_line, by_x in zip(input, pre, d_output, by_pre, by_input, strict=True):
        t = [
            by_line[o] + dot(by_x, weight[o]) + dot(x, by_weight[o]) + by_bias[o]  # to first order
            for o in range(len(weight))
        ]
        total += dot(moved_output(activation, alpha, line, t), d)
    return total
