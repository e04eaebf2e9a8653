"""Shapes changed, arrays joined and parted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensors
from tensors.errors import check
from tensors.layout import axes_of, axis_of, common_shape

from .array import Array, Shape
from .dtypes import result_type


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    return common_shape("broadcast_shapes", *shapes)


def broadcast_to(x: Array, /, shape: Shape) -> Array:
    return x.with_tensor(x.tensor.broadcast_to(shape))


def broadcast_arrays(*arrays: Array) -> list[Array]:
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return [broadcast_to(a, shape) for a in arrays]


def reshape(x: Array, /, shape: Shape, *, copy: bool | None = None) -> Array:
    """The same elements in the same order: a view where one can say it, or where no copy is to be made."""
    if copy:
        return x.with_tensor(x.tensor.copy().reshape(shape))
    try:
        return x.with_tensor(x.tensor.reshape(shape))
    except tensors.TensorError:
        if copy is False:
            raise
        return x.with_tensor(x.tensor.contiguous().reshape(shape))


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    return x.with_tensor(x.tensor.permute_dims(axes))


def matrix_transpose(x: Array, /) -> Array:
    return x.mT


def moveaxis(x: Array, source: Any, destination: Any, /) -> Array:
    """Axes taken to other places, the others in their order."""
    from_, to = axes_of("moveaxis", source, x.ndim), axes_of("moveaxis", destination, x.ndim)
    check(len(from_) == len(to), "moveaxis", "as many places as axes", f"{source} and {destination}")
    rest = iter(k for k in range(x.ndim) if k not in from_)
    moved = dict(zip(to, from_, strict=True))
    return permute_dims(x, tuple(moved[k] if k in moved else next(rest) for k in range(x.ndim)))


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    return x.with_tensor(x.tensor.squeeze(axis))


def expand_dims(x: Array, /, axis: int) -> Array:
    return x.with_tensor(x.tensor.expand_dims(axis))


def flip(x: Array, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    return x.with_tensor(x.tensor.flip(axis))


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """A copy of the arrays one behind the other along an axis; None: of all their elements in order."""
    check(len(arrays) > 0, "concat", "at least one array", "none")
    dtype = result_type(*arrays)
    alike = [a if a.dtype is dtype else a.as_type(dtype) for a in arrays]
    if axis is None:
        alike, axis = [reshape(a, (-1,)) for a in alike], 0
    return alike[0].with_tensor(tensors.concat([a.tensor for a in alike], axis))


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """A copy of arrays of one shape, side by side along a new axis."""
    shapes = {a.shape for a in arrays}
    check(len(shapes) == 1, "stack", "arrays of one shape", sorted(shapes))
    return concat([expand_dims(a, axis=axis) for a in arrays], axis=axis)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Views of the places along an axis, without it."""
    place = axis_of("unstack", axis, x.ndim)
    return tuple(x[(slice(None),) * place + (k,)] for k in range(x.shape[place]))


def roll(x: Array, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Array:
    """A copy whose elements have moved on along axes, and come back at the front; None: along all in order."""
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), x.shape)
    places = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(places)
    check(len(shifts) == len(places), "roll", "as many shifts as axes", (shift, axis))
    found = x.with_tensor(x.tensor.copy())
    for place, by in zip(places, shifts, strict=True):
        k = axis_of("roll", place, x.ndim)
        before, cut = (slice(None),) * k, -by % max(1, x.shape[k])
        found = concat([found[(*before, slice(cut, None))], found[(*before, slice(None, cut))]], axis=k)
    return found


def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """A copy of the array, so many times along each axis."""
    axes = max(x.ndim, len(repetitions))
    shape = (1,) * (axes - x.ndim) + x.shape
    times = (1,) * (axes - len(repetitions)) + tuple(repetitions)
    apart = reshape(x, tuple(n for length in shape for n in (1, length)))
    repeated = broadcast_to(apart, tuple(n for pair in zip(times, shape, strict=True) for n in pair))
    return reshape(repeated, tuple(t * n for t, n in zip(times, shape, strict=True)), copy=True)
