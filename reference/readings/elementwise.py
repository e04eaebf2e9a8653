"""Wrong readings of the elementwise operations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reference.arrays import Array
from reference.ops import elementwise as ops

from .reading import Reading, fed, giving, without_tail


def _sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def _slope(x: Array) -> Array:
    """The derivative of the sigmoid, taken for that of SiLU."""
    return _sigmoid(x) * (1.0 - _sigmoid(x))


def _cut(x: Array, below: int, result: Array) -> Array:
    """The result, 0 where x is below a number."""
    return np.where(x < below, result.dtype.type(0), result)


def _silu_cut(below: int) -> Callable[[Array], Array]:
    return lambda input: _cut(input, below, ops.silu(input))


def _swiglu_cut(below: int) -> Callable[[Array, Array], Array]:
    return lambda gate, up: _cut(gate, below, ops.swiglu(gate, up))


_CUTS = {-20: "exp(-x) is taken to leave nothing.", -88: "exp(-x) would overflow."}

READINGS = (
    *(
        Reading(
            function.__name__,
            "tail left out",
            "The loop takes four elements at once and stops before the rest.",
            giving(function, without_tail),
        )
        for function in (ops.silu, ops.silu_backward, ops.swiglu, ops.swiglu_backward, ops.add, ops.mul, ops.scale)
    ),
    *(Reading("silu", f"0 below {below}", why, _silu_cut(below)) for below, why in _CUTS.items()),
    *(Reading("swiglu", f"0 where gate is below {below}", why, _swiglu_cut(below)) for below, why in _CUTS.items()),
    Reading("silu", "sigmoid", "The factor x is forgotten.", lambda input: _sigmoid(input)),
    Reading(
        "silu",
        "sign of the exponent",
        "exp(x) is written where exp(-x) is meant.",
        lambda input: input * _sigmoid(-input),
    ),
    Reading(
        "silu",
        "quick GELU",
        "The sigmoid's argument is scaled by 1.702, as in the approximation of GELU.",
        lambda input: input * _sigmoid(1.702 * input),
    ),
    Reading("silu", "ReLU", "Another activation of the same family.", lambda input: np.maximum(input, 0.0)),
    Reading(
        "silu_backward",
        "sigmoid's derivative",
        "s * (1 - s) is the derivative of the sigmoid, not of SiLU.",
        lambda input, d_output: d_output * _slope(input),
    ),
    Reading(
        "silu_backward",
        "second term missing",
        "x is taken as a constant inside the sigmoid.",
        lambda input, d_output: d_output * _sigmoid(input),
    ),
    Reading(
        "silu_backward",
        "1 - s taken as s",
        "s * (1 + x * s).",
        lambda input, d_output: d_output * _sigmoid(input) * (1.0 + input * _sigmoid(input)),
    ),
    Reading(
        "silu_backward",
        "d_output missing",
        "The chain rule's outer factor is left out.",
        fed(ops.silu_backward, d_output=lambda g: np.ones_like(g["d_output"])),
    ),
    Reading(
        "swiglu",
        "gate and up exchanged",
        "SiLU is applied to the other projection.",
        lambda gate, up: ops.swiglu(up, gate),
    ),
    Reading(
        "swiglu", "GLU", "The gate is a sigmoid, as in the first gated unit.", lambda gate, up: _sigmoid(gate) * up
    ),
    Reading(
        "swiglu",
        "activation of the product",
        "SiLU is applied after the product.",
        lambda gate, up: ops.silu(gate * up),
    ),
    Reading(
        "swiglu",
        "gate and up clamped at 7",
        "As in another model's gated unit, whose gate is cut off above and whose other factor on both sides.",
        lambda gate, up: ops.swiglu(np.minimum(gate, gate.dtype.type(7)), np.clip(up, -7, 7)),
    ),
    Reading("swiglu", "one plus up", "As in another model's gated unit.", lambda gate, up: ops.silu(gate) * (up + 1.0)),
    Reading(
        "swiglu_backward",
        "no activation in d_up",
        "d_up is taken with the gate itself instead of its SiLU.",
        giving(ops.swiglu_backward, lambda result, g: (result[0], g["d_output"] * g["gate"])),
    ),
    Reading(
        "swiglu_backward",
        "gradients exchanged",
        "d_gate and d_up are written to each other's place.",
        giving(ops.swiglu_backward, lambda result, g: (result[1], result[0])),
    ),
    Reading(
        "swiglu_backward",
        "up missing in d_gate",
        "The other factor of the product is left out.",
        giving(ops.swiglu_backward, lambda result, g: (ops.silu_backward(g["gate"], g["d_output"]), result[1])),
    ),
    Reading(
        "swiglu_backward",
        "sigmoid in d_up",
        "d_up is taken with the sigmoid of the gate instead of its SiLU.",
        giving(ops.swiglu_backward, lambda result, g: (result[0], g["d_output"] * _sigmoid(g["gate"]))),
    ),
    Reading(
        "swiglu_backward",
        "sigmoid's derivative in d_gate",
        "s * (1 - s) is taken for the derivative of SiLU.",
        giving(ops.swiglu_backward, lambda result, g: (g["d_output"] * g["up"] * _slope(g["gate"]), result[1])),
    ),
    Reading("add", "a alone", "The second operand is not added.", lambda a, b: a + 0.0),
    Reading("add", "difference", "b is subtracted.", lambda a, b: a - b),
    Reading("mul", "sum", "The operands are added.", lambda a, b: a + b),
    Reading("scale", "quotient", "The input is divided by the scale.", lambda input, scale: input / scale),
    Reading(
        "scale", "scale applied twice", "Caller and kernel both scale.", lambda input, scale: input * scale * scale
    ),
)
