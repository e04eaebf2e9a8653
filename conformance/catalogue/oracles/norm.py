"""Root-mean-square normalisation, one number at a time."""

from __future__ import annotations

from .numbers import Matrix, Number, Vector, dot


def rmsnorm(input: Matrix, weight: Vector, eps: Number) -> Matrix:
    output = []
    for row in input:
        root = (dot(row, row) / len(row) + eps).sqrt()
        output.append([x / root * w for x, w in zip(row, weight, strict=True)])
    return output


def rmsnorm_residual(input: Matrix, residual: Matrix, weight: Vector, eps: Number) -> tuple[Matrix, Matrix]:
    s = [[x + y for x, y in zip(a, b, strict=True)] for a, b in zip(input, residual, strict=True)]
    return rmsnorm(s, weight, eps), s
