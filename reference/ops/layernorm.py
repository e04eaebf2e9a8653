"""Layer norm (Ba, Kiros and Hinton 2016)."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, accumulate, check, check_same_shape, ieee


@ieee
def layernorm(input: Array, weight: Array, bias: Array, eps: float) -> tuple[Array, Array, Array]:
    """(output, mean, rstd): each row less its mean, divided by the root of its variance + eps, scaled and shifted.

    input: (rows, hidden_dim); weight, bias: (hidden_dim,); mean, rstd: (rows,). The variance is that of the whole row,
    divided by hidden_dim.
    """
    _check_columns("layernorm", input, weight=weight, bias=bias)
    mean = np.mean(input, axis=-1, keepdims=True)
    centred = input - mean
    rstd = 1.0 / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + eps)
    return centred * rstd * weight + bias, mean[:, 0], rstd[:, 0]


@ieee
def layernorm_backward(
    input: Array,
    weight: Array,
    mean: Array,
    rstd: Array,
    d_output: Array,
    d_weight: Array | None,
    d_bias: Array | None,
    beta: float,
) -> tuple[Array, Array, Array]:
    """d_input, d_weight and d_bias of layernorm; the last two are added to beta times those given (unread at beta 0).

    With h = (x - mean) * rstd and g = d_output * weight: d_input = rstd * (g - mean(g) - h * mean(g * h)).
    """
    operation = "layernorm_backward"
    _check_columns(operation, input, weight=weight)
    check_same_shape(operation, input=input, d_output=d_output)
    for name, value in (("mean", mean), ("rstd", rstd)):
        check(np.shape(value) == np.shape(input)[:1], operation, name, f"shape {np.shape(input)[:1]}", np.shape(value))
    r = rstd[:, None]
    h, g = (input - mean[:, None]) * r, d_output * weight
    d_input = r * (g - np.mean(g, axis=-1, keepdims=True) - h * np.mean(g * h, axis=-1, keepdims=True))
    new_weight = accumulate(np.sum(d_output * h, axis=0), d_weight, beta)
    return d_input, new_weight, accumulate(np.sum(d_output, axis=0), d_bias, beta)


def _check_columns(operation: str, input: Array, **vectors: Array) -> None:
    for name, vector in vectors.items():
        check(vector.shape == input.shape[-1:], operation, name, f"shape {input.shape[-1:]}", vector.shape)
