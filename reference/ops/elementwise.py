"""Elementwise operations: SiLU, SwiGLU, sum, product, scaling. Arrays of one call have one shape, any shape."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, check_same_shape, ieee

from .blocks import by_elements


def logistic(x: Array) -> Array:
    """1 / (1 + exp(-x)) as exp(min(x, 0)) / (1 + exp(-|x|)), in which nothing overflows."""
    return np.exp(np.minimum(x, 0.0)) / (1.0 + np.exp(-np.abs(x)))


@ieee
def silu(input: Array) -> Array:
    """input * sigmoid(input)."""
    return by_elements(lambda x: x * logistic(x), input)


@ieee
def silu_backward(input: Array, d_output: Array) -> Array:
    """Gradient of silu: d_output * s * (1 + x * (1 - s)), s = sigmoid(x)."""
    check_same_shape("silu_backward", input=input, d_output=d_output)
    return by_elements(_silu_backward, input, d_output)


def _silu_backward(x: Array, d_output: Array) -> Array:
    s = logistic(x)
    return d_output * s * (1.0 + x * (1.0 - s))


@ieee
def swiglu(gate: Array, up: Array) -> Array:
    """silu(gate) * up (Shazeer 2020, GLU variants improve transformer)."""
    check_same_shape("swiglu", gate=gate, up=up)
    return by_elements(lambda gate, up: gate * logistic(gate) * up, gate, up)


@ieee
def swiglu_backward(gate: Array, up: Array, d_output: Array) -> tuple[Array, Array]:
    """Gradients of swiglu with respect to gate and up."""
    check_same_shape("swiglu_backward", gate=gate, up=up, d_output=d_output)
    d_gate, d_up = by_elements(_swiglu_backward, gate, up, d_output)
    return d_gate, d_up


def _swiglu_backward(gate: Array, up: Array, d_output: Array) -> tuple[Array, Array]:
    s = logistic(gate)
    return d_output * up * (s * (1.0 + gate * (1.0 - s))), d_output * (gate * s)


@ieee
def add(a: Array, b: Array) -> Array:
    """a + b."""
    check_same_shape("add", a=a, b=b)
    return a + b


@ieee
def mul(a: Array, b: Array) -> Array:
    """a * b."""
    check_same_shape("mul", a=a, b=b)
    return a * b


@ieee
def scale(input: Array, scale: float) -> Array:
    """input * scale."""
    return input * scale
