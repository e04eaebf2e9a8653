"""Activation functions, one number at a time."""

from __future__ import annotations

from decimal import Decimal

from .elementwise import sigmoid as sigmoid_of
from .numbers import PI, Matrix, Number, Vector, erf, exp, hyperbolic_tangent
from .softmax import probabilities

CUBE = Decimal("0.044715")


def relu(input: Vector) -> Vector:
    return [Decimal(0) if x <= 0 else x for x in input]


def leaky_relu(input: Vector, alpha: Number) -> Vector:
    return [x if x > 0 else alpha * x for x in input]


def elu(input: Vector, alpha: Number) -> Vector:
    return [x if x > 0 else alpha * (exp(x) - 1) for x in input]


def sigmoid(input: Vector) -> Vector:
    return [sigmoid_of(x) for x in input]


def tanh(input: Vector) -> Vector:
    return [hyperbolic_tangent(x) for x in input]


def gelu(input: Vector) -> Vector:
    return [x * (1 + erf(x / Decimal(2).sqrt())) / 2 for x in input]


def gelu_tanh(input: Vector) -> Vector:
    factor = (2 / PI).sqrt()
    return [x / 2 * (1 + hyperbolic_tangent(factor * (x + CUBE * x * x * x))) for x in input]


def softmax_temperature(input: Matrix, temperature: Number) -> Matrix:
    return [probabilities([x / temperature for x in row]) for row in input]
