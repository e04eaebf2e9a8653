"""Losses, one number at a time."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from .numbers import Matrix, Number, Vector, dot, exp, largest

ZERO, LOWEST_LOG = Decimal(0), Decimal(-100)
SMALLEST = Decimal(float.fromhex("0x1.197998p-40"))  # 1e-12 as float32 holds it


def larger(x: Number, y: Number) -> Number:
    """Return the larger of a number and one that is a number; of a NaN, NaN."""
    return x if x.is_nan() or x >= y else y


def _log_probabilities(logits: Vector) -> Vector:
    most = largest(logits)
    total = sum((exp(x - most) for x in logits), Decimal(0)).ln()
    return [x - most - total for x in logits]


def cross_entropy_forward(logits: Matrix, targets: Sequence[int]) -> tuple[Vector, Matrix]:
    log_probs = [_log_probabilities(row) for row in logits]
    losses = [-row[target] for row, target in zip(log_probs, targets, strict=True) if target >= 0]
    return [sum(losses, Decimal(0)) / max(1, len(losses))], log_probs


def fused_cross_entropy(logits: Matrix, targets: Sequence[int], scale: Number) -> tuple[Matrix, Vector, Vector]:
    loss, log_probs = cross_entropy_forward(logits, targets)
    d_logits = [
        [(exp(x) - (column == target)) * scale if target >= 0 else ZERO for column, x in enumerate(row)]
        for row, target in zip(log_probs, targets, strict=True)
    ]
    lse = [largest(row) + sum((exp(x - largest(row)) for x in row), ZERO).ln() for row in logits]
    return d_logits, loss, lse


def mse_forward(prediction: Vector, target: Vector) -> Vector:
    return _mean([(p - t) ** 2 for p, t in zip(prediction, target, strict=True)])


def bce_forward(probability: Vector, target: Vector) -> Vector:
    def loss(p: Number, t: Number) -> Number:
        return -(t * _bounded_log(p) + (1 - t) * _bounded_log(1 - p))

    return _mean([loss(p, t) for p, t in zip(probability, target, strict=True)])


def bce_backward(probability: Vector, target: Vector, scale: Number) -> Vector:
    factor = scale / len(target)
    return [(p - t) / larger(p * (1 - p), SMALLEST) * factor for p, t in zip(probability, target, strict=True)]


def bce_logits_forward(logits: Vector, target: Vector) -> Vector:
    return _mean([larger(x, ZERO) - x * t + (1 + exp(-abs(x))).ln() for x, t in zip(logits, target, strict=True)])


def categorical_cross_entropy_forward(probabilities: Matrix, labels: Matrix) -> Vector:
    return _mean_of_rows([[_bounded_log(p) for p in row] for row in probabilities], labels)


def categorical_cross_entropy_backward(probabilities: Matrix, labels: Matrix, scale: Number) -> Matrix:
    factor = scale / len(labels)
    return [
        [-label / larger(p, SMALLEST) * factor for p, label in zip(*rows, strict=True)]
        for rows in zip(probabilities, labels, strict=True)
    ]


def cross_entropy_dense_forward(logits: Matrix, labels: Matrix, temperature: Number) -> tuple[Vector, Matrix]:
    log_probs = [_log_probabilities([x / temperature for x in row]) for row in logits]
    return _mean_of_rows(log_probs, labels), log_probs


def _bounded_log(p: Number) -> Number:
    return larger(p.ln(), LOWEST_LOG)


def _mean(terms: Vector) -> Vector:
    return [sum(terms, ZERO) / len(terms)]


def _mean_of_rows(log_probs: Matrix, labels: Matrix) -> Vector:
    return [-sum((dot(*rows) for rows in zip(log_probs, labels, strict=True)), ZERO) / len(labels)]
