"""Operations on strided tensors, one element at a time: its index by counting, its place by the header's sum.

The numbers of functions are those of assayer.h.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from . import activations
from .elementwise import sigmoid
from .numbers import PI, Number, Vector, cosine_sine, dot, erf, exp, hyperbolic_tangent

Whole = Sequence[int]


def _sign(x: Number) -> Number:
    return Decimal(1) if x > 0 else Decimal(-1) if x < 0 else x


def _to_whole(rounding: str) -> Callable[[Number], Number]:
    return lambda x: x.to_integral_value(rounding) if x.is_finite() else x


def _softplus(x: Number) -> Number:
    """log(1 + exp(x)), by its series where 1 + exp(x) would lose digits of exp(x)."""
    e = exp(-abs(x))
    logarithm = (1 + e).ln() if e > Decimal("1e-12") else e - e * e / 2 + e * e * e / 3
    return max(x, Decimal(0)) + logarithm if x == x else x


def _one(function: Callable[[Vector], Vector]) -> Callable[[Number], Number]:
    return lambda x: function([x])[0]


MAPS: tuple[Callable[[Number], Number], ...] = (
    lambda x: x,
    lambda x: x.copy_negate(),
    lambda x: x.copy_abs(),
    _sign,
    _to_whole(ROUND_FLOOR),
    _to_whole(ROUND_CEILING),
    _to_whole(ROUND_HALF_EVEN),
    lambda x: x * x,
    lambda x: 1 / x,
    lambda x: x.sqrt(),
    lambda x: 1 / x.sqrt(),
    exp,
    lambda x: x.ln(),
    lambda x: cosine_sine(x)[1],
    lambda x: cosine_sine(x)[0],
    hyperbolic_tangent,
    sigmoid,
    lambda x: x * sigmoid(x),
    _softplus,
    erf,
    _one(activations.relu),
    _one(activations.gelu),
    _one(activations.gelu_tanh),
)


def _power(a: Number, b: Number) -> Number:
    return Decimal(1) if b == 0 or a == 1 else a**b


def _gelu_slope(x: Number) -> Number:
    """Phi(x) + x phi(x)."""
    return (1 + erf(x / Decimal(2).sqrt())) / 2 + x * exp(-x * x / 2) / (2 * PI).sqrt()


def _whether(holds: bool) -> Number:
    return Decimal(int(holds))


ZIPS: tuple[Callable[[Number, Number], Number], ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    _power,
    lambda a, b: a if a > b or a.is_nan() else b,
    lambda a, b: a if a < b or a.is_nan() else b,
    lambda a, b: _whether(a < b),
    lambda a, b: _whether(a <= b),
    lambda a, b: _whether(a == b),
    lambda a, b: _whether(a != b),
    lambda a, b: Decimal(0) if a <= 0 else b,
    lambda a, b: b * a * (1 - a),
    lambda a, b: b * (1 - a * a),
    lambda a, b: b / (2 * a),
    lambda a, b: b * _gelu_slope(a),
)


def _joined(function: int, start: Number, numbers: Vector) -> Number:
    total = start
    for x in numbers:
        if function in (0, 4):
            total += x
        elif function == 1:
            total *= x
        elif not total.is_nan() and (x.is_nan() or (x > total if function == 2 else x < total)):
            total = x
    if function == 4:
        return total / len(numbers) if numbers else Decimal("NaN")
    return total


def _indices(shape: Whole) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(length) for length in shape))


def _place(index: Whole, strides: Whole, offset: int) -> int:
    return offset + sum(i * stride for i, stride in zip(index, strides, strict=True))


def map_strided(
    input: Vector,
    output: Vector,
    shape: Whole,
    input_strides: Whole,
    output_strides: Whole,
    input_offset: int,
    output_offset: int,
    function: int,
) -> Vector:
    result = list(output)
    for index in _indices(shape):
        x = input[_place(index, input_strides, input_offset)]
        result[_place(index, output_strides, output_offset)] = MAPS[function](x)
    return result


def zip_strided(
    a: Vector,
    b: Vector,
    output: Vector,
    shape: Whole,
    a_strides: Whole,
    b_strides: Whole,
    output_strides: Whole,
    a_offset: int,
    b_offset: int,
    output_offset: int,
    function: int,
) -> Vector:
    result = list(output)
    for index in _indices(shape):
        x, y = a[_place(index, a_strides, a_offset)], b[_place(index, b_strides, b_offset)]
        result[_place(index, output_strides, output_offset)] = ZIPS[function](x, y)
    return result


def reduce_strided(
    input: Vector,
    output: Vector,
    shape: Whole,
    input_strides: Whole,
    output_strides: Whole,
    input_offset: int,
    output_offset: int,
    function: int,
    start: Number,
) -> Vector:
    result, kept = list(output), len(output_strides)
    for index in _indices(shape[:kept]):
        numbers = [input[_place((*index, *rest), input_strides, input_offset)] for rest in _indices(shape[kept:])]
        result[_place(index, output_strides, output_offset)] = _joined(function, start, numbers)
    return result


def matmul_strided(
    a: Vector,
    b: Vector,
    output: Vector,
    shape: Whole,
    a_strides: Whole,
    b_strides: Whole,
    output_strides: Whole,
    a_offset: int,
    b_offset: int,
    output_offset: int,
) -> Vector:
    result = list(output)
    for index in _indices(shape[:-1]):
        along = [(*index, k) for k in range(shape[-1])]
        left = [a[_place(place, a_strides, a_offset)] for place in along]
        right = [b[_place(place, b_strides, b_offset)] for place in along]
        result[_place(index, output_strides, output_offset)] = dot(left, right)
    return result
