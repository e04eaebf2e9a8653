"""How a tensor lies in its storage: whether each element has a place there, and whether each has one of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def span(shape: Sequence[int], strides: Sequence[int], offset: int) -> tuple[int, int]:
    """Return the first and the last place that an element has; the tensor has an element."""
    reaches = [(length - 1) * stride for length, stride in zip(shape, strides, strict=True)]
    return offset + sum(min(reach, 0) for reach in reaches), offset + sum(max(reach, 0) for reach in reaches)


def is_apart(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether every stride is larger than what the smaller ones reach: then no two elements share a place.

    Layouts that are not so ordered, and share none either, exist: strides 2 and 3 of 2 x 2 elements.  No slice,
    transpose or reversal of a dense array is one of them, and to tell in general is hard (a Diophantine equation).
    """
    reach = 0
    for stride, length in sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if n > 1):
        if stride <= reach:
            return False
        reach += (length - 1) * stride
    return True


def problem_of(shape: Any, strides: Any, offset: int, size: int, written: bool) -> tuple[str, str] | None:
    """Return what was expected of a tensor in a storage of that size, and what came, or None where all is well.

    shape, strides: host arrays; the shape may name more axes than there are strides.  written: no two elements may
    share a place.
    """
    steps, lengths = _numbers(strides), _numbers(shape)
    if any(length < 0 for length in lengths):
        return "a shape of lengths from 0 up", f"shape {lengths}"
    if 0 not in lengths and math.prod(lengths) >= 2**63:
        return "fewer than 2^63 elements", f"shape {lengths}"
    lengths = lengths[: len(steps)]
    if 0 in lengths:
        return None
    lies = f"shape {lengths}, strides {steps}, offset {offset}"
    first, last = span(lengths, steps, offset)
    if first < 0 or last >= size:
        return f"every element inside its {size} places", f"places {first} to {last}: {lies}"
    if written and not is_apart(lengths, steps):
        return "a place of its own for every element: each stride larger than what smaller ones reach", lies
    return None


def _numbers(array: Iterable[Any]) -> list[int]:
    """The entries as whole numbers of Python, which do not overflow."""
    return array.tolist() if isinstance(array, np.ndarray) else [int(entry) for entry in array]
