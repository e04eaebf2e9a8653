"""Layer norm, one number at a time."""

from __future__ import annotations

from decimal import Decimal

from .numbers import Matrix, Number, Vector, dot


def layernorm(input: Matrix, weight: Vector, bias: Vector, eps: Number) -> tuple[Matrix, Vector, Vector]:
    output, means, rstds = [], [], []
    for row in input:
        mean = average(row)
        rstd = 1 / (average([(x - mean) * (x - mean) for x in row]) + eps).sqrt()
        output.append([(x - mean) * rstd * w + b for x, w, b in zip(row, weight, bias, strict=True)])
        means.append(mean)
        rstds.append(rstd)
    return output, means, rstds


def average(values: Vector) -> Number:
    return sum(values, Decimal(0)) / len(values)


def moved_norm(h: Vector, moves: Vector) -> Vector:
    """Return what numbers of mean 0 and variance 1 become where each is moved, and mean and variance are kept.

    Of h as it was stored, whose mean and variance are nearly so, the variance is taken to change by what moves do.
    """
    mean = average(moves)
    change = 2 * dot(h, moves) / len(h)
    return [(x + move - mean) / (1 + change).sqrt() for x, move in zip(h, moves, strict=True)]
