"""What the operations on strided tensors apply: functions of one number and of two, and ways to join many.

Their places in the tables are the header's numbers ASSAYER_MAP_..., ASSAYER_ZIP_... and ASSAYER_REDUCE_...
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reference.arrays import Array
from reference.special import erf

from .activations import (
    gelu,
    gelu_backward,
    gelu_tanh,
    relu_backward,
    sigmoid,
    sigmoid_backward,
    tanh,
    tanh_backward,
)
from .elementwise import silu

Map = Callable[[Array], Array]
Zip = Callable[[Array, Array], Array]
Reduction = Callable[[Array, float], Array]


def _sign(x: Array) -> Array:
    return np.where(x > 0, 1.0, np.where(x < 0, -1.0, x))


def _softplus(x: Array) -> Array:
    """log(1 + exp(x)), of which exp cannot overflow."""
    return np.maximum(x, 0.0) + np.log(1.0 + np.exp(-np.absolute(x)))


MAPS: tuple[Map, ...] = (
    np.copy,
    np.negative,
    np.absolute,
    _sign,
    np.floor,
    np.ceil,
    np.rint,
    lambda x: x * x,
    lambda x: 1.0 / x,
    np.sqrt,
    lambda x: 1.0 / np.sqrt(x),
    np.exp,
    np.log,
    np.sin,
    np.cos,
    tanh,
    sigmoid,
    silu,
    _softplus,
    erf,
    lambda x: np.where(x <= 0, 0.0, x),
    gelu,
    gelu_tanh,
)


def _whether(test: Callable[[Array, Array], Array]) -> Zip:
    """1 where the test holds of two numbers, else 0, in the type of the first."""
    return lambda a, b: np.where(test(a, b), np.ones_like(a), 0.0)


ZIPS: tuple[Zip, ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    np.power,
    np.maximum,
    np.minimum,
    _whether(np.less),
    _whether(np.less_equal),
    _whether(np.equal),
    _whether(np.not_equal),
    relu_backward,
    sigmoid_backward,
    tanh_backward,
    lambda a, b: b / (2.0 * a),
    gelu_backward,
)


def _sum(rows: Array, start: float) -> Array:
    return np.sum(rows, axis=1) + start


def _product(rows: Array, start: float) -> Array:
    """start times all, which are multiplied by halves."""
    if not rows.shape[1]:
        return _of_nothing(rows, start)
    while (columns := rows.shape[1]) > 1:
        half = columns // 2
        rows = np.concatenate([rows[:, :half] * rows[:, half : 2 * half], rows[:, 2 * half :]], axis=1)
    return rows[:, 0] * start


def _of_nothing(rows: Array, start: float) -> Array:
    """The start value for each row that holds nothing."""
    return np.zeros(len(rows), rows.dtype) + start


def _largest(rows: Array, start: float) -> Array:
    return np.maximum(np.max(rows, axis=1), start) if rows.shape[1] else _of_nothing(rows, start)


def _smallest(rows: Array, start: float) -> Array:
    return np.minimum(np.min(rows, axis=1), start) if rows.shape[1] else _of_nothing(rows, start)


def _mean(rows: Array, start: float) -> Array:
    """(start + the sum) / how many there are; NaN of nothing, whatever start is."""
    return _sum(rows, start) / rows.shape[1] if rows.shape[1] else _of_nothing(rows, np.nan)


REDUCTIONS: tuple[Reduction, ...] = (_sum, _product, _largest, _smallest, _mean)
