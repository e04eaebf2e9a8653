"""Batch norm (Ioffe and Szegedy 2015), over batch and space, with the running statistics that PyTorch keeps."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, accumulate, check, check_same_shape, ieee

_EVERY = (0, 2)  # axes that a channel's statistics are of


@ieee
def batchnorm_training(
    input: Array,
    weight: Array,
    bias: Array,
    running_mean: Array,
    running_var: Array,
    momentum: float,
    eps: float,
) -> tuple[Array, Array, Array, Array, Array]:
    """(output, mean, rstd, running_mean, running_var) by the statistics of the batch itself.

    input: (batch, channels, spatial); all others: (channels,). The output is scaled by the variance of all that there
    is, divided by their count; the running one is that of a sample, divided by one less.
    """
    operation = "batchnorm_training"
    _check_channels(operation, input, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
    count = input.shape[0] * input.shape[2]
    check(count > 1, operation, "input", "more than one number in a channel", input.shape)
    mean = np.mean(input, axis=_EVERY, keepdims=True)
    centred = input - mean
    variance = np.mean(centred * centred, axis=_EVERY)
    rstd = 1.0 / np.sqrt(variance + eps)
    rest = 1.0 - momentum
    new_mean = rest * running_mean + momentum * mean[0, :, 0]
    new_var = rest * running_var + momentum * (variance * (count / (count - 1)))
    output = centred * of_channels(rstd) * of_channels(weight) + of_channels(bias)
    return output, mean[0, :, 0], rstd, new_mean, new_var


@ieee
def batchnorm_evaluation(
    input: Array, weight: Array, bias: Array, running_mean: Array, running_var: Array, eps: float
) -> Array:
    """The output by the running statistics. input: (batch, channels, spatial); all others: (channels,).

    It is computed as a layer that was folded into its neighbour computes it. Its roundings are never fewer than those
    of (x - mean) * s + bias, so that limits derived from it hold for both.
    """
    _check_channels(
        "batchnorm_evaluation", input, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var
    )
    scale = 1.0 / np.sqrt(running_var + eps) * weight
    return input * of_channels(scale) + of_channels(bias - running_mean * scale)


@ieee
def batchnorm_backward(
    input: Array,
    weight: Array,
    mean: Array,
    rstd: Array,
    d_output: Array,
    d_weight: Array | None,
    d_bias: Array | None,
    beta: float,
) -> tuple[Array, Array, Array]:
    """d_input, d_weight and d_bias of batchnorm_training; the last two are added to beta times those given.

    With h = (x - mean) * rstd: d_input = weight * rstd * (d_output - mean(d_output) - h * mean(d_output * h)).
    """
    operation = "batchnorm_backward"
    _check_channels(operation, input, weight=weight, mean=mean, rstd=rstd)
    check_same_shape(operation, input=input, d_output=d_output)
    h = (input - of_channels(mean)) * of_channels(rstd)
    terms = d_output * h
    d_mean, d_deviation = (np.mean(each, axis=_EVERY, keepdims=True) for each in (d_output, terms))
    d_input = of_channels(weight * rstd) * (d_output - d_mean - h * d_deviation)
    new_weight = accumulate(np.sum(terms, axis=_EVERY), d_weight, beta)
    return d_input, new_weight, accumulate(np.sum(d_output, axis=_EVERY), d_bias, beta)


def of_channels(values: Array) -> Array:
    """One number for each channel, so that it meets all of that channel."""
    return values[None, :, None]


def _check_channels(operation: str, input: Array, **vectors: Array) -> None:
    check(np.ndim(input) == 3, operation, "input", "shape (batch, channels, spatial)", np.shape(input))
    for name, vector in vectors.items():
        check(vector.shape == input.shape[1:2], operation, name, f"shape {input.shape[1:2]}", vector.shape)
