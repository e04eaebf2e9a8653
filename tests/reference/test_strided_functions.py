"""What is applied to the elements of strided tensors, by Python's own mathematics, number by number."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from reference.ops.strided_functions import MAPS, REDUCTIONS, ZIPS

NUMBERS = (-2.5, -1.5, -1.0, -0.75, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
DIGITS = 16 * np.finfo(np.float64).eps  # a few functions, each right to its last digits


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def gelu(x: float) -> float:
    return 0.5 * x * (1.0 + math.erf(x / math.sqrt(2.0)))


def gelu_tanh(x: float) -> float:
    return 0.5 * x * (1.0 + math.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


def gelu_slope(x: float) -> float:
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0))) + x * math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


OF_ONE: tuple[Callable[[float], float], ...] = (
    lambda x: x,
    lambda x: -x,
    abs,
    lambda x: math.copysign(1.0, x) if x else x,
    math.floor,
    math.ceil,
    round,  # ties to even
    lambda x: x**2,
    lambda x: 1.0 / x,
    math.sqrt,
    lambda x: 1.0 / math.sqrt(x),
    math.exp,
    math.log,
    math.sin,
    math.cos,
    math.tanh,
    sigmoid,
    lambda x: x * sigmoid(x),
    lambda x: math.log1p(math.exp(x)),
    math.erf,
    lambda x: max(x, 0.0),
    gelu,
    gelu_tanh,
)
OF_TWO: tuple[Callable[[float, float], float], ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    math.pow,
    max,
    min,
    lambda a, b: float(a < b),
    lambda a, b: float(a <= b),
    lambda a, b: float(a == b),
    lambda a, b: float(a != b),
    lambda a, b: b if a > 0 else 0.0,
    lambda a, b: b * a * (1.0 - a),
    lambda a, b: b * (1.0 - a * a),
    lambda a, b: b / (2.0 * a),
    lambda a, b: b * gelu_slope(a),
)
OF_MANY: tuple[Callable[[list[float], float], float], ...] = (
    lambda row, start: start + sum(row),
    lambda row, start: start * math.prod(row),
    lambda row, start: max(start, *row),
    lambda row, start: min(start, *row),
    lambda row, start: (start + sum(row)) / len(row),
)


def known(function: Callable[..., float], *numbers: float) -> float:
    """NaN where the function has no value."""
    try:
        return float(function(*numbers))
    except ValueError:
        return math.nan


@pytest.mark.parametrize("number", range(len(MAPS)))
def test_functions_of_one_number(number: int) -> None:
    with np.errstate(invalid="ignore"):
        got = MAPS[number](np.array(NUMBERS))
    np.testing.assert_allclose(got, [known(OF_ONE[number], x) for x in NUMBERS], rtol=DIGITS, atol=DIGITS)


@pytest.mark.parametrize("number", range(len(ZIPS)))
def test_functions_of_two_numbers(number: int) -> None:
    pairs = [(a, b) for a in NUMBERS for b in NUMBERS]
    with np.errstate(invalid="ignore"):
        got = ZIPS[number](*np.array(pairs).T)
    np.testing.assert_allclose(got, [known(OF_TWO[number], *pair) for pair in pairs], rtol=DIGITS, atol=DIGITS)


@pytest.mark.parametrize("number", range(len(REDUCTIONS)))
@pytest.mark.parametrize("columns", [1, 2, 5, 10])
@pytest.mark.parametrize("start", [-4.0, 0.5, 7.0])
def test_ways_to_join_many(number: int, columns: int, start: float) -> None:
    rows = np.array(NUMBERS).reshape(-1, columns)
    got = REDUCTIONS[number](rows, start)
    due = [OF_MANY[number]([*map(float, row)], start) for row in rows]
    np.testing.assert_allclose(got, due, rtol=DIGITS, atol=DIGITS)


def test_of_zeros_and_of_nothing() -> None:
    zeros = np.array([0.0, -0.0])
    assert np.signbit(MAPS[3](zeros)).tolist() == [False, True]  # the sign of a zero is that zero
    assert np.isnan(MAPS[3](np.array([math.nan])))[0]
    assert MAPS[20](np.array([-0.0, math.nan]))[0] == 0
    assert np.isnan(MAPS[20](np.array([math.nan])))[0]
    assert len(OF_ONE) == len(MAPS)
    assert len(OF_TWO) == len(ZIPS)
    assert len(OF_MANY) == len(REDUCTIONS)
    for joined in REDUCTIONS[:4]:
        assert joined(np.zeros((3, 0)), 0.5).tolist() == [0.5, 0.5, 0.5]
