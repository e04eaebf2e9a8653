"""The decoding strategies, one number at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from itertools import accumulate

from .numbers import Matrix, Number, Vector, descending
from .softmax import probabilities

WORD = 2**32


def uniform(seed: int, row: int) -> Number:
    state = (seed ^ row * 12345) % WORD
    return Decimal(((state * 1664525 + 1013904223) % WORD) >> 8) / 2**24


def walk(columns: Iterable[int], weights: Vector, u: Number) -> int:
    """Return the first column with u below the cumulative weight, the last one that has any where there is none."""
    total, last = Decimal(0), -1
    for column, weight in zip(columns, weights, strict=True):
        total += weight
        if u < total:
            return column
        last = column if weight > 0 else last
    return last


def _sampled(
    logits: Matrix, seeds: Sequence[int], temperature: Number, choose: Callable[[Vector, Number], int]
) -> list[int]:
    if temperature == 0:
        return argmax(logits)
    return [choose(row, uniform(seeds[r], r)) for r, row in enumerate(logits)]


def argmax(logits: Matrix) -> list[int]:
    return [descending(row)[0] for row in logits]


def sample(logits: Matrix, seeds: Sequence[int], temperature: Number) -> list[int]:
    def choose(row: Vector, u: Number) -> int:
        return walk(range(len(row)), probabilities([x / temperature for x in row]), u)

    return _sampled(logits, seeds, temperature, choose)


def topk_sample(logits: Matrix, seeds: Sequence[int], k: int, temperature: Number) -> list[int]:
    def choose(row: Vector, u: Number) -> int:
        best = descending(row)[:k]
        return walk(best, probabilities([row[i] / temperature for i in best]), u)

    return _sampled(logits, seeds, temperature, choose)


def topp_sample(logits: Matrix, seeds: Sequence[int], top_p: Number, temperature: Number) -> list[int]:
    def choose(row: Vector, u: Number) -> int:
        p = probabilities([x / temperature for x in row])
        order = descending(p)
        reached = [end >= top_p for end in accumulate(p[i] for i in order)]
        kept = order[: reached.index(True) + 1] if top_p < 1 else order
        total = sum(p[i] for i in kept)
        return walk(kept, [p[i] / total for i in kept], u)

    return _sampled(logits, seeds, temperature, choose)
