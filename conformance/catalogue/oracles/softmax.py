"""Softmax and routing, one number at a time."""

from __future__ import annotations

from .numbers import Matrix, Vector, descending, exp, largest


def probabilities(logits: Vector) -> Vector:
    """Return the softmax of one row."""
    most = largest(logits)
    weights = [exp(x - most) for x in logits]
    total = sum(weights)
    return [w / total for w in weights]


def softmax(input: Matrix) -> Matrix:
    return [probabilities(row) for row in input]


def softmax_topk(input: Matrix, k: int) -> tuple[Matrix, list[list[int]]]:
    chosen, weights = [], []
    for row in input:
        p = probabilities(row)
        best = descending(p)[:k]
        chosen.append(best)
        weights.append([p[i] / sum(p[j] for j in best) for i in best])
    return weights, chosen
