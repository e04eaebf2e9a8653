"""Wrong readings of GELU's two forms, each of which is one of the other."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array
from reference.ops import activations as ops
from reference.special import erf

from .reading import Reading

CUBE, TANH_FACTOR, QUICK = ops.CUBE_FACTOR, ops.TANH_FACTOR, 1.702


def _normal(x: Array) -> Array:
    return 0.5 * (1.0 + erf(x / ops.ROOT_2))


def _density(x: Array) -> Array:
    return np.exp(-0.5 * x * x) / ops.ROOT_2_PI


def _by_tanh(x: Array, factor: float = TANH_FACTOR, cube: float = CUBE, power: int = 3) -> Array:
    return 0.5 * x * (1.0 + np.tanh(factor * (x + cube * x**power)))


def _by_tanh_backward(x: Array, d_output: Array, cube: float) -> Array:
    """The gradient of GELU by tanh, the cube's factor in the inner derivative being `cube`."""
    t = np.tanh(TANH_FACTOR * (x + CUBE * x**3))
    return d_output * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * TANH_FACTOR * (1.0 + cube * x * x))


def _quick_backward(input: Array, d_output: Array) -> Array:
    s = ops.sigmoid(QUICK * input)
    return d_output * s * (1.0 + QUICK * input * (1.0 - s))


READINGS = (
    Reading("gelu", "tanh form", "The approximation by tanh.", ops.gelu_tanh),
    Reading("gelu", "quick GELU", "x * sigmoid(1.702 x).", lambda input: input * ops.sigmoid(QUICK * input)),
    Reading("gelu", "erf of x", "x is not divided by the root of 2.", lambda input: 0.5 * input * (1.0 + erf(input))),
    Reading("gelu", "not halved", "x * (1 + erf).", lambda input: 2.0 * ops.gelu(input)),
    Reading("gelu", "Phi alone", "The factor x is forgotten.", lambda input: _normal(input)),
    Reading("gelu_backward", "tanh form", "The gradient of the approximation by tanh.", ops.gelu_tanh_backward),
    Reading("gelu_backward", "quick GELU", "The gradient of x * sigmoid(1.702 x).", _quick_backward),
    Reading(
        "gelu_backward",
        "second term missing",
        "x is taken as a constant inside Phi.",
        lambda input, d_output: d_output * _normal(input),
    ),
    Reading(
        "gelu_backward",
        "density not divided by sqrt(2 pi)",
        "exp(-x^2 / 2) is taken for the density.",
        lambda input, d_output: d_output * (_normal(input) + input * np.exp(-0.5 * input * input)),
    ),
    Reading(
        "gelu_backward",
        "square not halved",
        "exp(-x^2) in the density.",
        lambda input, d_output: d_output * (_normal(input) + input * np.exp(-input * input) / ops.ROOT_2_PI),
    ),
    Reading(
        "gelu_backward",
        "x missing in the second term",
        "Phi(x) + phi(x).",
        lambda input, d_output: d_output * (_normal(input) + _density(input)),
    ),
    Reading("gelu_tanh", "erf form", "The function that this one is near to.", ops.gelu),
    Reading("gelu_tanh", "quick GELU", "x * sigmoid(1.702 x).", lambda input: input * ops.sigmoid(QUICK * input)),
    Reading("gelu_tanh", "0.44715", "A zero is lost.", lambda input: _by_tanh(input, cube=0.44715)),
    Reading("gelu_tanh", "sqrt(2 pi)", "In place of sqrt(2 / pi).", lambda input: _by_tanh(input, ops.ROOT_2_PI)),
    Reading("gelu_tanh", "cube left out", "tanh(sqrt(2 / pi) * x).", lambda input: _by_tanh(input, cube=0.0)),
    Reading("gelu_tanh", "square for the cube", "x^2 is added.", lambda input: _by_tanh(input, power=2)),
    Reading(
        "gelu_tanh_backward", "erf form", "The gradient of the function that this one is near to.", ops.gelu_backward
    ),
    Reading("gelu_tanh_backward", "quick GELU", "The gradient of x * sigmoid(1.702 x).", _quick_backward),
    Reading(
        "gelu_tanh_backward",
        "cube's factor 3 missing",
        "1 + 0.044715 x^2 is taken for the inner derivative.",
        lambda input, d_output: _by_tanh_backward(input, d_output, CUBE),
    ),
    Reading(
        "gelu_tanh_backward",
        "inner derivative 1",
        "The cube is taken as a constant.",
        lambda input, d_output: _by_tanh_backward(input, d_output, 0.0),
    ),
    Reading(
        "gelu_tanh_backward",
        "second term missing",
        "x is taken as a constant inside tanh.",
        lambda input, d_output: d_output * 0.5 * (1.0 + np.tanh(TANH_FACTOR * (input + CUBE * input**3))),
    ),
)
