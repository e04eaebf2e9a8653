"""Batch norm, one number at a time."""

from __future__ import annotations

from collections.abc import Sequence

from .layernorm import average
from .numbers import Matrix, Number, Vector

Images = Sequence[Matrix]  # by sample, channel and place


def of_channel(input: Images, channel: int) -> Vector:
    """Return all numbers of a channel."""
    return [x for sample in input for x in sample[channel]]


def _scaled(input: Images, mean: Vector, rstd: Vector, weight: Vector, bias: Vector) -> Images:
    factors = list(zip(mean, rstd, weight, bias, strict=True))
    return [
        [[(x - m) * r * w + b for x in row] for row, (m, r, w, b) in zip(sample, factors, strict=True)]
        for sample in input
    ]


def batchnorm_training(
    input: Images, weight: Vector, bias: Vector, running_mean: Vector, running_var: Vector,
    momentum: Number, eps: Number,
) -> tuple[Images, Vector, Vector, Vector, Vector]:  # fmt: skip
    means, variances, samples = [], [], []
    for channel in range(len(weight)):
        values = of_channel(input, channel)
        means.append(average(values))
        variances.append(average([(x - means[-1]) * (x - means[-1]) for x in values]))
        samples.append(variances[-1] * len(values) / (len(values) - 1))
    rstd = [1 / (v + eps).sqrt() for v in variances]
    new_mean = [(1 - momentum) * old + momentum * m for old, m in zip(running_mean, means, strict=True)]
    new_var = [(1 - momentum) * old + momentum * v for old, v in zip(running_var, samples, strict=True)]
    return _scaled(input, means, rstd, weight, bias), means, rstd, new_mean, new_var


def batchnorm_evaluation(
    input: Images, weight: Vector, bias: Vector, running_mean: Vector, running_var: Vector, eps: Number
) -> Images:
    return _scaled(input, running_mean, [1 / (v + eps).sqrt() for v in running_var], weight, bias)
