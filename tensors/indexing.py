"""Indices: whole numbers, slices, an ellipsis, None."""

from __future__ import annotations

import operator
from typing import Any

from .errors import TensorIndexError
from .layout import Layout


def indexed(layout: Layout, key: Any) -> Layout:
    """The view that NumPy's basic indexing gives.

    Raises TensorIndexError for what lies outside, too many indices, and other kinds of index, which would copy.
    """
    keys = key if isinstance(key, tuple) else (key,)
    ellipses = sum(one is Ellipsis for one in keys)
    named = sum(one is not Ellipsis and one is not None for one in keys)
    if ellipses > 1 or named > len(layout.shape):
        raise TensorIndexError(f"index: expected one ellipsis and {len(layout.shape)} indices at most, got {key!r}")
    rest = (slice(None),) * (len(layout.shape) - named)
    place = next((n for n, one in enumerate(keys) if one is Ellipsis), len(keys))
    axis, shape, strides, offset = 0, [], [], layout.offset
    for one in (*keys[:place], *rest, *keys[place + 1 :]):
        if one is None:
            shape.append(1)
            strides.append(0)
            continue
        length, stride = layout.shape[axis], layout.strides[axis]
        if isinstance(one, slice):
            first, count, step = _slice(one, length)
            shape.append(count)
            strides.append(stride * step)
            offset += first * stride
        else:
            offset += _number(one, axis, layout) * stride
        axis += 1
    return Layout(tuple(shape), tuple(strides), offset)


def _slice(key: slice, length: int) -> tuple[int, int, int]:
    """Return first, count and step."""
    try:
        first, stop, step = key.indices(length)
    except (TypeError, ValueError) as error:
        raise TensorIndexError(f"index: expected whole numbers, and a step other than 0, got {key!r}") from error
    count = len(range(first, stop, step))
    return (first if count else 0), count, step


def _number(key: Any, axis: int, layout: Layout) -> int:
    try:
        if isinstance(key, bool) or getattr(key, "shape", ()) != ():
            raise TypeError
        number = operator.index(key)
    except TypeError:
        kinds = "a whole number, a slice, an ellipsis or None"
        raise TensorIndexError(f"index: expected {kinds}, got {type(key).__name__} {key!r}") from None
    length = layout.shape[axis]
    if not -length <= number < length:
        expected = f"{-length} to {length - 1}" if length else "none, for the axis is empty"
        raise TensorIndexError(f"index: expected {expected} for axis {axis} of shape {layout.shape}, got {number}")
    return number % length
