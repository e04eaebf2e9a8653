"""Rotary position encoding, one number at a time."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from .numbers import Matrix, Nested, Number, cosine_sine, shape, tensor


def rope_freqs(max_seq_len: int, head_dim: int, base: Number, alpha: Number) -> Matrix:
    b = base * alpha ** (Decimal(head_dim) / (head_dim - 2))
    turns = [b ** (Decimal(-2 * d) / head_dim) for d in range(head_dim // 2)]
    return [[p * turn for turn in turns] for p in range(max_seq_len)]


def rope_forward(input: Nested, freqs: Matrix, offset: int) -> Nested:
    """Pair (2d, 2d + 1) of every head at place s turns by freqs[s + offset][d]."""
    batch, seq_len, heads, head_dim = shape(input)
    turns = [[cosine_sine(angle) for angle in freqs[s + offset]] for s in range(seq_len)]

    def turned(b: int, s: int, h: int, i: int) -> Number:
        cos, sin = turns[s][i // 2]
        x: Number = input[b][s][h][i - i % 2]
        y: Number = input[b][s][h][i - i % 2 + 1]
        return x * sin + y * cos if i % 2 else x * cos - y * sin

    return tensor((batch, seq_len, heads, head_dim), turned)


def rope_qk(q: Nested, k: Nested, freqs: Matrix, offset: int) -> tuple[Any, Any]:
    return rope_forward(q, freqs, offset), rope_forward(k, freqs, offset)
