"""Attention and the KV cache, one number at a time."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from .numbers import Nested, Number, Vector, dot, exp, largest, shape, tensor
from .softmax import probabilities

HIDDEN = Decimal("-Infinity")


def attention_scores(Q: Nested, K: Nested, scale: Number) -> Nested:
    batch, seq_len, heads, _ = shape(Q)

    def score(b: int, h: int, i: int, j: int) -> Number:
        return scale * dot(Q[b][i][h], K[b][j]) if j <= i else HIDDEN

    return tensor((batch, heads, seq_len, seq_len), score)


def attention_output(weights: Nested, V: Nested) -> Nested:
    batch, heads, seq_len, _ = shape(weights)

    def mixed(b: int, i: int, h: int, d: int) -> Number:
        return dot(weights[b][h][i], [v[d] for v in V[b]])

    return tensor((batch, seq_len, heads, len(V[0][0])), mixed)


def flash_attention(Q: Nested, K: Nested, V: Nested, scale: Number) -> Nested:
    return attention_forward(Q, K, V, len(Q[0]), scale)[0]


def attention_forward(Q: Nested, K: Nested, V: Nested, kv_len: int, scale: Number) -> tuple[Nested, Nested]:
    batch, q_len, heads, head_dim = shape(Q)
    group = heads // len(K[0][0])

    def scores(b: int, h: int, i: int) -> Vector:
        seen = kv_len - q_len + i + 1
        return [scale * dot(Q[b][i][h], K[b][j][h // group]) for j in range(seen)]

    rows = tensor((batch, heads, q_len), scores)
    weights = tensor((batch, heads, q_len), lambda b, h, i: probabilities(rows[b][h][i]))

    def mixed(b: int, i: int, h: int, d: int) -> Number:
        return sum((w * V[b][j][h // group][d] for j, w in enumerate(weights[b][h][i])), Decimal(0))

    lse = tensor((batch, heads, q_len), lambda b, h, i: _log_sum_exp(rows[b][h][i]))
    return tensor((batch, q_len, heads, head_dim), mixed), lse


def _log_sum_exp(values: Vector) -> Number:
    most = largest(values)
    return most + sum((exp(x - most) for x in values), Decimal(0)).ln()


def kv_cache_append(input: Nested, cache: Nested, position: int) -> Any:
    new = len(input[0])
    return [c[:position] + x + c[position + new :] for x, c in zip(input, cache, strict=True)]
