"""Steps of sequences, one at a time."""

from __future__ import annotations

from .numbers import Nested


def slice_steps(input: Nested, first: int, count: int) -> Nested:
    return [[list(sample[step]) for step in range(first, first + count)] for sample in input]


def concat_steps(a: Nested, b: Nested) -> Nested:
    return [[*map(list, first), *map(list, second)] for first, second in zip(a, b, strict=True)]
