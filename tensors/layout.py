"""Where a tensor's elements lie in its storage, and how views change that; no element is touched."""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Self
from weakref import WeakValueDictionary

from .errors import TensorError, check

Shape = tuple[int, ...]
_KNOWN: WeakValueDictionary[tuple[Shape, Shape, int], Any] = WeakValueDictionary()
_ADDING = threading.Lock()


class Layout:
    """Element (i_0, i_1, ...) lies at offset + sum of i_k * strides[k]; strides count elements.

    There is one for the same numbers, so that whoever looks up a plan by layouts need not compare them.
    """

    __slots__ = ("__weakref__", "offset", "shape", "strides")
    shape: Shape
    strides: Shape
    offset: int

    def __new__(cls, shape: Shape, strides: Shape, offset: int = 0) -> Self:
        key = (shape, strides, offset)
        found = _KNOWN.get(key)
        return found if found is not None else cls._add(key)

    @classmethod
    def _add(cls, key: tuple[Shape, Shape, int]) -> Self:
        with _ADDING:  # two threads may ask for one that is new
            found = _KNOWN.get(key)
            if found is None:
                found = object.__new__(cls)
                for name, value in zip(("shape", "strides", "offset"), key, strict=True):
                    object.__setattr__(found, name, value)
                _KNOWN[key] = found
            return found

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: expected a layout to stay as it is, which others have, too")

    def __reduce__(self) -> tuple[type[Layout], tuple[Shape, Shape, int]]:
        return Layout, (self.shape, self.strides, self.offset)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def is_dense(self) -> bool:
        """Whether the elements lie one behind the other, the last axis closest."""
        step = 1
        for length, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if length != 1 and stride != step:
                return self.size == 0
            step *= length
        return True


@lru_cache(maxsize=4096)
def dense(shape: Shape) -> Layout:
    """One element behind the other, the last axis closest."""
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= max(1, length)
    return Layout(shape, tuple(reversed(strides)))


def lengths(operation: str, shape: int | Sequence[int]) -> Shape:
    """Return a shape as whole numbers from 0 up."""
    try:
        found = tuple(int(operator.index(n)) for n in (shape if isinstance(shape, Sequence) else (shape,)))
    except TypeError:
        raise TensorError(f"{operation}: expected a shape of whole numbers, got {shape!r}") from None
    check(all(length >= 0 for length in found), operation, "lengths from 0 up", found)
    return found


def axis_of(operation: str, axis: Any, axes: int) -> int:
    """Return an axis counted from the front; negative ones count from behind."""
    try:
        number = operator.index(axis)
    except TypeError:
        raise TensorError(f"{operation}: expected a whole number for an axis, got {axis!r}") from None
    check(-axes <= number < axes, operation, f"an axis from {-axes} to {axes - 1}", number)
    return number % axes


def axes_of(operation: str, axis: int | Sequence[int] | None, axes: int) -> Shape:
    """Return axes counted from the front, each once; None: all."""
    if axis is None:
        return tuple(range(axes))
    given = axis if isinstance(axis, Sequence) else (axis,)
    found = tuple(axis_of(operation, one, axes) for one in given)
    check(len({*found}) == len(found), operation, "each axis once", given)
    return found


def permuted(layout: Layout, axes: Sequence[int]) -> Layout:
    """Axis k of what is returned is axis axes[k]."""
    order = axes_of("permute_dims", axes, len(layout.shape))
    check(len(order) == len(layout.shape), "permute_dims", f"every axis of shape {layout.shape}", tuple(axes))
    return Layout(tuple(layout.shape[k] for k in order), tuple(layout.strides[k] for k in order), layout.offset)


def exchanged(layout: Layout, axes: tuple[int, int]) -> Layout:
    """Two axes in each other's place."""
    count = len(layout.shape)
    one, other = (axis_of("swapaxes", axis, count) for axis in axes)
    order = [*range(count)]
    order[one], order[other] = other, one
    return permuted(layout, order)


def flipped(layout: Layout, axis: int | Sequence[int] | None) -> Layout:
    """These axes turned about; None: all."""
    strides, offset = [*layout.strides], layout.offset
    for k in axes_of("flip", axis, len(layout.shape)):
        offset += max(0, layout.shape[k] - 1) * strides[k]
        strides[k] = -strides[k]
    return Layout(layout.shape, tuple(strides), offset)


def squeezed(layout: Layout, axis: int | Sequence[int]) -> Layout:
    """Without these axes, whose length is 1."""
    gone = axes_of("squeeze", axis, len(layout.shape))
    check(all(layout.shape[k] == 1 for k in gone), "squeeze", f"axes of length 1 of shape {layout.shape}", axis)
    kept = [k for k in range(len(layout.shape)) if k not in gone]
    return Layout(tuple(layout.shape[k] for k in kept), tuple(layout.strides[k] for k in kept), layout.offset)


def unsqueezed(layout: Layout, axis: int) -> Layout:
    """With an axis of length 1, which is then at this place."""
    place = axis_of("expand_dims", axis, len(layout.shape) + 1)
    shape, strides = [*layout.shape], [*layout.strides]
    shape.insert(place, 1)
    strides.insert(place, 0)
    return Layout(tuple(shape), tuple(strides), layout.offset)


def broadcast(layout: Layout, shape: int | Sequence[int]) -> Layout:
    """The same elements along new axes in front and along axes of length 1: strides of 0."""
    wanted = lengths("broadcast_to", shape)
    new = len(wanted) - len(layout.shape)
    fits = new >= 0 and all(n in (1, w) for n, w in zip(layout.shape, wanted[max(new, 0) :], strict=True))
    check(fits, "broadcast_to", f"a shape that {layout.shape} broadcasts to", wanted)
    pairs = zip(layout.shape, layout.strides, wanted[new:], strict=True)
    kept = tuple(stride if length == wide else 0 for length, stride, wide in pairs)
    return Layout(wanted, (0,) * new + kept, layout.offset)


def common_shape(operation: str, *shapes: Shape) -> Shape:
    """Return what NumPy's rule broadcasts the shapes to."""
    axes = max(map(len, shapes), default=0)
    padded = [(1,) * (axes - len(shape)) + shape for shape in shapes]
    found = tuple(next((n for n in column if n != 1), 1) for column in zip(*padded, strict=True))
    fit = all(n in (1, wide) for shape in padded for n, wide in zip(shape, found, strict=True))
    check(fit, operation, "shapes that broadcast together", " and ".join(map(str, shapes)))
    return found
