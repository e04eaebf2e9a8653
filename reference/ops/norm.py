"""Root-mean-square norm (Zhang and Sennrich 2019), alone and with the residual sum before it."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, accumulate, check, check_same_shape, ieee


def _inverse_root(x: Array, eps: float) -> Array:
    return 1.0 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)


@ieee
def rmsnorm(input: Array, weight: Array, eps: float) -> Array:
    """x / sqrt(mean(x^2) + eps) * weight, row-wise. input: (rows, hidden_dim), weight: (hidden_dim,)."""
    _check_weight("rmsnorm", input, weight)
    return input * _inverse_root(input, eps) * weight


@ieee
def rmsnorm_backward(
    input: Array, weight: Array, d_output: Array, d_weight: Array | None, eps: float, beta: float
) -> tuple[Array, Array]:
    """d_input and d_weight of rmsnorm; d_weight is added to beta times the one given (not read where beta is 0).

    With h = x * r and g = d_output * weight: d_input = r * (g - h * mean(g * h)); d_weight = sum of d_output * h.
    """
    _check_weight("rmsnorm_backward", input, weight)
    check_same_shape("rmsnorm_backward", input=input, d_output=d_output)
    r = _inverse_root(input, eps)
    normalised = input * r
    g = d_output * weight
    d_input = r * (g - normalised * np.mean(g * normalised, axis=-1, keepdims=True))
    return d_input, accumulate(np.sum(d_output * normalised, axis=0), d_weight, beta)


@ieee
def rmsnorm_residual(input: Array, residual: Array, weight: Array, eps: float) -> tuple[Array, Array]:
    """(rmsnorm(s), s) with s = input + residual."""
    check_same_shape("rmsnorm_residual", input=input, residual=residual)
    _check_weight("rmsnorm_residual", input, weight)
    s = input + residual
    return rmsnorm(s, weight, eps), s


@ieee
def rmsnorm_residual_backward(
    residual_out: Array,
    weight: Array,
    d_output: Array,
    d_residual_out: Array,
    d_weight: Array | None,
    eps: float,
    beta: float,
) -> tuple[Array, Array]:
    """d_input (the residual's gradient too) and d_weight, from residual_out = s: both paths of s are summed."""
    operation = "rmsnorm_residual_backward"
    check_same_shape(operation, residual_out=residual_out, d_output=d_output, d_residual_out=d_residual_out)
    _check_weight(operation, residual_out, weight)
    through_norm, d_weight = rmsnorm_backward(residual_out, weight, d_output, d_weight, eps, beta)
    return d_residual_out + through_norm, d_weight


def _check_weight(operation: str, input: Array, weight: Array) -> None:
    check(weight.shape == input.shape[-1:], operation, "weight", f"shape {input.shape[-1:]}", weight.shape)
