"""Softmax of attention's scores, one query at a time."""

from __future__ import annotations

from decimal import Decimal

from .attention import HIDDEN
from .numbers import Matrix, Nested, Number, Vector, shape, tensor
from .softmax import probabilities


def queries_of(scores: Nested) -> Matrix:
    """Return the rows of all heads of all sequences."""
    return [row for sequence in scores for head in sequence for row in head]


def attention_softmax(scores: Nested, mask: Matrix, scale: Number, has_mask: int, causal: int, offset: int) -> Nested:
    batch, heads, queries, keys = shape(scores)

    def weights(b: int, h: int, i: int) -> Vector:
        row = [scale * x + (mask[b][j] if has_mask else 0) for j, x in enumerate(scores[b][h][i])]
        row = [HIDDEN if causal and j > i + offset else x for j, x in enumerate(row)]
        return [Decimal(0)] * keys if all(number == HIDDEN for number in row) else probabilities(row)

    return tensor((batch, heads, queries), weights)
