"""Convolutions, one number at a time: a window is what lies inside the planes."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from .numbers import Nested, Number, Vector, flat, tensor


def _places(output: int, length: int, kernel: int, stride: int, pad: int, dilation: int) -> Iterator[tuple[int, int]]:
    """Yield (tap, place) of every tap that meets a place of the plane."""
    for tap in range(kernel):
        place = output * stride - pad + tap * dilation
        if 0 <= place < length:
            yield tap, place


def _outputs(length: int, kernel: int, stride: int, pad: int, dilation: int) -> int:
    return (length + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1


def conv2d(
    input: Nested, weight: Nested, bias: Vector, stride_h: int, stride_w: int, pad_h: int, pad_w: int, dilation_h: int,
    dilation_w: int, groups: int, has_bias: int,
) -> Any:  # fmt: skip
    down = (len(input[0][0]), len(weight[0][0]), stride_h, pad_h, dilation_h)
    across = (len(input[0][0][0]), len(weight[0][0][0]), stride_w, pad_w, dilation_w)
    channels, filters = len(weight[0]), len(weight) // groups

    def entry(b: int, o: int, y: int, x: int) -> Number:
        planes = input[b][o // filters * channels : (o // filters + 1) * channels]
        columns = list(_places(x, *across))
        total = bias[o] if has_bias else Decimal(0)
        for i, row in _places(y, *down):
            for c, plane in enumerate(planes):
                total += sum((weight[o][c][i][j] * plane[row][column] for j, column in columns), Decimal(0))
        return total

    return tensor((len(input), len(weight), _outputs(*down), _outputs(*across)), entry)


def conv2d_backward_bias(d_output: Nested, d_bias: Vector, beta: Number) -> Any:
    def entry(o: int) -> Number:
        added = beta * d_bias[o] if beta else Decimal(0)
        return sum((x for sample in d_output for x in flat(sample[o])), added)

    return tensor((len(d_output[0]),), entry)
