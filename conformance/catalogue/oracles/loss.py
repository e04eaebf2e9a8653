"""Cross entropy, one number at a time."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from .numbers import Matrix, Vector, exp, largest


def _log_probabilities(logits: Vector) -> Vector:
    most = largest(logits)
    total = sum((exp(x - most) for x in logits), Decimal(0)).ln()
    return [x - most - total for x in logits]


def cross_entropy_forward(logits: Matrix, targets: Sequence[int]) -> tuple[Vector, Matrix]:
    log_probs = [_log_probabilities(row) for row in logits]
    losses = [-row[target] for row, target in zip(log_probs, targets, strict=True) if target >= 0]
    return [sum(losses, Decimal(0)) / max(1, len(losses))], log_probs
