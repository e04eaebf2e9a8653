"""Another shape for the same elements in the same order, where strides can say it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .errors import TensorError, check
from .layout import Layout, Shape, dense, lengths


def reshaped(layout: Layout, shape: int | Sequence[int]) -> Layout:
    """The same elements in the same order; one length may be -1.

    Raises TensorError where no strides say it: then `contiguous()` has to copy first.
    """
    wanted = _complete(layout, shape)
    if not layout.size:
        return Layout(wanted, dense(wanted).strides, layout.offset)
    strides = _strides(layout, wanted)
    if strides is None:
        how = f"shape {layout.shape} with strides {layout.strides}"
        raise TensorError(f"reshape: expected a shape that a view of {how} can have, got {wanted}: contiguous() copies")
    return Layout(wanted, strides, layout.offset)


def rows(layout: Layout) -> Layout | None:
    """The same elements as a matrix: the last axis, and all others as rows; None where no strides say it."""
    if not layout.size:
        return None
    wanted = (layout.size // layout.shape[-1], layout.shape[-1])
    strides = _strides(layout, wanted)
    return None if strides is None else Layout(wanted, strides, layout.offset)


def _complete(layout: Layout, shape: int | Sequence[int]) -> Shape:
    given = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    check(given.count(-1) <= 1, "reshape", "at most one length of -1", given)
    known = lengths("reshape", tuple(n for n in given if n != -1))
    rest = math.prod(known)
    missing = layout.size // rest if rest else 0
    wanted = lengths("reshape", tuple(missing if n == -1 else n for n in given))
    fits = math.prod(wanted) == layout.size and (rest or -1 not in given)
    check(fits, "reshape", f"a shape of {layout.size} elements, as {layout.shape} has", given)
    return wanted


def _strides(layout: Layout, wanted: Shape) -> Shape | None:
    """Each new axis has to lie within a run of old ones, along all of which one stride leads."""
    runs = _runs(layout)
    left, step = runs.pop() if runs else (1, 1)
    strides = []
    for length in reversed(wanted):
        if length != 1 and left == 1:
            left, step = runs.pop()
        if left % length:
            return None
        strides.append(step)
        left, step = left // length, step * length
    return tuple(reversed(strides))


def _runs(layout: Layout) -> list[tuple[int, int]]:
    """Return (elements, stride) of the longest runs of axes that one stride leads along, without axes of length 1."""
    runs: list[tuple[int, int]] = []
    for length, stride in zip(layout.shape, layout.strides, strict=True):
        if length == 1:
            continue
        if runs and runs[-1][1] == length * stride:
            runs[-1] = (runs[-1][0] * length, stride)
        else:
            runs.append((length, stride))
    return runs
