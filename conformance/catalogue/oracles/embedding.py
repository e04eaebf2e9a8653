"""The embedding and the addition of its gradient, one number at a time."""

from __future__ import annotations

from collections.abc import Sequence

from .numbers import Matrix


def embedding(weight: Matrix, indices: Sequence[int]) -> Matrix:
    return [list(weight[i]) for i in indices]


def scatter_add(grad_output: Matrix, indices: Sequence[int], grad_weight: Matrix) -> Matrix:
    total = [list(row) for row in grad_weight]
    for row, i in zip(grad_output, indices, strict=True):
        if i >= 0:
            total[i] = [x + g for x, g in zip(total[i], row, strict=True)]
    return total
