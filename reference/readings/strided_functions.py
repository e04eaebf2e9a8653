"""Wrong readings of the functions that are applied to strided tensors."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from reference.arrays import Array
from reference.ops.strided_functions import MAPS, ZIPS

from .reading import Given, Reading
from .strided_places import OPERANDS, Change, changed, computed, of_arguments, read, write

(IDENTITY, NEGATIVE, ABSOLUTE, SIGN, FLOOR, CEIL, ROUND, SQUARE, RECIPROCAL, SQRT, RSQRT, EXP, LOG, SIN, COS, TANH,
 SIGMOID, SILU, SOFTPLUS, ERF, RELU, GELU, GELU_TANH) = range(23)  # fmt: skip
(ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, MAXIMUM, MINIMUM, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, RELU_BACKWARD,
 SIGMOID_BACKWARD, TANH_BACKWARD, SQRT_BACKWARD, GELU_BACKWARD) = range(16)  # fmt: skip


def _instead(operation: str, function: int, other: Callable[..., Array]) -> Callable[..., Array]:
    """The operation with another function in place of one."""

    def compute(g: Given) -> Array:
        if g["function"] != function:
            return computed(operation, g)
        return write(g, other(*(read(g, operand) for operand in OPERANDS[operation][:-1])))

    return of_arguments(operation, compute)


def _counted_from_1(count: int) -> Change:
    return lambda g: {"function": (g["function"] + 1) % count}


def _exchanged(one: int, other: int) -> Change:
    return lambda g: {"function": {one: other, other: one}.get(g["function"], g["function"])}


def _half_up(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x)


def _logistic(x: Array) -> Array:
    return MAPS[SIGMOID](x)


_WRONG_MAPS = (
    (ROUND, "round", "half away from 0", "roundf is taken for rintf.", _half_up),
    (FLOOR, "floor", "cut off", "Converted to a whole number and back.", np.trunc),
    (CEIL, "ceil", "cut off", "Converted to a whole number and back.", np.trunc),
    (SIGN, "sign", "of 0 is 1", "The test is x < 0.", lambda x: np.where(x < 0, x.dtype.type(-1), x.dtype.type(1))),
    (RSQRT, "rsqrt", "not inverted", "The square root itself.", np.sqrt),
    (RECIPROCAL, "reciprocal", "eps added", "1e-6 keeps the divisor from 0.", lambda x: 1 / (x + x.dtype.type(1e-6))),
    (SQUARE, "square", "doubled", "x + x in place of x * x.", lambda x: x + x),
    (LOG, "log", "eps added", "1e-6 keeps the argument from 0, as a course's framework has it.",
     lambda x: np.log(x + x.dtype.type(1e-6))),
    (LOG, "log", "to base 2", "log2f is the faster one.", np.log2),
    (EXP, "exp", "to base 2", "exp2f is the faster one.", np.exp2),
    (SIN, "sin", "and cosine exchanged", "sincosf gives the sine first.", np.cos),
    (COS, "cos", "and sine exchanged", "sincosf gives the sine first.", np.sin),
    (SILU, "silu", "with a factor of 1.702", "The logistic form of GELU.",
     lambda x: x * _logistic(x * x.dtype.type(1.702))),
    (SIGMOID, "sigmoid", "piecewise linear", "The hard sigmoid.", lambda x: np.clip(x / 6 + x.dtype.type(0.5), 0, 1)),
    (SOFTPLUS, "softplus", "of the other sign", "log(1 + exp(-x)).", lambda x: MAPS[SOFTPLUS](-x)),
    (ERF, "erf", "by tanh", "tanh(2 x / sqrt(pi)) has the same slope at 0.",
     lambda x: np.tanh(x * x.dtype.type(2 / math.sqrt(math.pi)))),
    (RELU, "relu", "magnitude", "abs in place of max.", np.absolute),
    (GELU, "gelu", "by tanh", "The other of the two forms in use.", lambda x: MAPS[GELU_TANH](x)),
    (GELU_TANH, "gelu_tanh", "by erf", "The other of the two forms in use.", lambda x: MAPS[GELU](x)),
    (NEGATIVE, "negative", "left as it is", "The sign is lost.", lambda x: x + 0),
    (ABSOLUTE, "absolute", "left as it is", "The sign is kept.", lambda x: x + 0),
    (TANH, "tanh", "as a sigmoid", "2 sigmoid(x) - 1 in place of 2 sigmoid(2 x) - 1.", lambda x: 2 * _logistic(x) - 1),
    (SQRT, "sqrt", "of the magnitude", "Negative numbers give no NaN.", lambda x: np.sqrt(np.abs(x))),
)  # fmt: skip


def _close(a: Array, b: Array) -> Array:
    return np.where(np.abs(a - b) < a.dtype.type(1e-2), a.dtype.type(1), a.dtype.type(0))


def _ones(a: Array, holds: Array) -> Array:
    return np.where(holds, a.dtype.type(1), a.dtype.type(0))


_WRONG_ZIPS = (
    (SUBTRACT, "subtract", "exchanged", "b - a.", lambda a, b: b - a),
    (DIVIDE, "divide", "exchanged", "b / a.", lambda a, b: b / a),
    (POWER, "power", "exchanged", "b to the a.", lambda a, b: np.power(b, a)),
    (POWER, "power", "of the magnitude", "exp(b log |a|).", lambda a, b: np.power(np.abs(a), b)),
    (LESS, "less", "or equal", "<= in place of <.", lambda a, b: _ones(a, a <= b)),
    (LESS, "less", "exchanged", "b < a.", lambda a, b: _ones(a, b < a)),
    (LESS_EQUAL, "less_equal", "but not equal", "< in place of <=.", lambda a, b: _ones(a, a < b)),
    (EQUAL, "equal", "within a hundredth", "Whatever is close counts as equal, as in a course's framework.", _close),
    (NOT_EQUAL, "not_equal", "inverted", "1 where they are equal.", lambda a, b: _ones(a, a == b)),
    (MAXIMUM, "maximum", "passes NaN over", "fmaxf gives the other one.", lambda a, b: np.fmax(a, b)),
    (MINIMUM, "minimum", "passes NaN over", "fminf gives the other one.", lambda a, b: np.fmin(a, b)),
    (MAXIMUM, "maximum", "is the smaller one", "The test is turned about.", lambda a, b: np.minimum(a, b)),
    (RELU_BACKWARD, "relu_backward", "by the gradient", "The sign of b decides.",
     lambda a, b: np.where(b <= 0, b.dtype.type(0), b)),
    (RELU_BACKWARD, "relu_backward", "at 0 handed on", "a < 0 in place of a <= 0.",
     lambda a, b: np.where(a < 0, b.dtype.type(0), b)),
    (SIGMOID_BACKWARD, "sigmoid_backward", "from the input", "a is taken for what went in.",
     lambda a, b: b * _logistic(a) * (1 - _logistic(a))),
    (TANH_BACKWARD, "tanh_backward", "from the input", "a is taken for what went in.",
     lambda a, b: b * (1 - np.tanh(a) ** 2)),
    (SQRT_BACKWARD, "sqrt_backward", "from the input", "a is taken for what went in.",
     lambda a, b: b / (2 * np.sqrt(a))),
    (GELU_BACKWARD, "gelu_backward", "without the density", "The slope is Phi alone.",
     lambda a, b: b * np.where(a == 0, a.dtype.type(0.5), MAPS[GELU](a) / a)),
    (ADD, "add", "subtracted", "The sign of b is lost.", lambda a, b: a - b),
    (MULTIPLY, "multiply", "added", "The function before it in the table.", lambda a, b: a + b),
)  # fmt: skip

READINGS = (
    Reading("map_strided", "functions counted from 1", "The table begins at 1.",
            changed("map_strided", _counted_from_1(len(MAPS)))),
    Reading("zip_strided", "functions counted from 1", "The table begins at 1.",
            changed("zip_strided", _counted_from_1(len(ZIPS)))),
    Reading("zip_strided", "maximum and minimum exchanged", "They are written side by side.",
            changed("zip_strided", _exchanged(MAXIMUM, MINIMUM))),
    *(Reading(operation, f"{name}: {what}", why, _instead(operation, number, other))
      for operation, wrong in (("map_strided", _WRONG_MAPS), ("zip_strided", _WRONG_ZIPS))
      for number, name, what, why, other in wrong),
)  # fmt: skip
