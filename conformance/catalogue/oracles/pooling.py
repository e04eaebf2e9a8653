"""Pooling, one number at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from .numbers import Nested, Number, largest, shape, tensor

Place = tuple[int, int]


def max_pool2d(input: Nested, **window: int) -> tuple[Nested, Nested]:
    width = shape(input)[3]

    def entries(plane: Nested, places: Sequence[Place]) -> Number:
        return largest([plane[h][w] for h, w in places])

    def place(plane: Nested, places: Sequence[Place]) -> int:
        top = entries(plane, places)
        h, w = next(at for at in places if plane[at[0]][at[1]] == top or plane[at[0]][at[1]].is_nan())
        return h * width + w

    return _over_windows(input, window, entries), _over_windows(input, window, place)


def avg_pool2d(input: Nested, count_include_pad: int, **window: int) -> Nested:
    whole = window["kernel_h"] * window["kernel_w"]

    def mean(plane: Nested, places: Sequence[Place]) -> Number:
        return sum((plane[h][w] for h, w in places), Decimal(0)) / (whole if count_include_pad else len(places))

    return _over_windows(input, window, mean)


def _over_windows(
    input: Nested, window: Mapping[str, int], value: Callable[[Nested, Sequence[Place]], object]
) -> Nested:
    """value(plane, places) for every window: the places of it that lie in the plane, in the order of memory."""
    batch, channels, height, width = shape(input)
    names = ("kernel_h", "kernel_w", "stride_h", "stride_w", "pad_h", "pad_w")
    kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w = (window[name] for name in names)

    def entry(b: int, c: int, i: int, j: int) -> object:
        rows = range(i * stride_h - pad_h, i * stride_h - pad_h + kernel_h)
        columns = range(j * stride_w - pad_w, j * stride_w - pad_w + kernel_w)
        places = [(h, w) for h, w in itertools.product(rows, columns) if 0 <= h < height and 0 <= w < width]
        return value(input[b][c], places)

    down = (height + 2 * pad_h - kernel_h) // stride_h + 1
    across = (width + 2 * pad_w - kernel_w) // stride_w + 1
    return tensor((batch, channels, down, across), entry)
