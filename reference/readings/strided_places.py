"""Operations on strided tensors with any arguments: outside of a storage lies, to them, what is at its other end."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import strided as ops
from reference.ops.strided_functions import MAPS, REDUCTIONS, ZIPS

from .reading import Given

Change = Callable[[Given], Given]
OPERANDS = {
    "map_strided": ("input", "output"),
    "zip_strided": ("a", "b", "output"),
    "reduce_strided": ("input", "output"),
    "matmul_strided": ("a", "b", "output"),
}
NAMES = {name: tuple(inspect.signature(getattr(ops, name)).parameters) for name in OPERANDS}


def lengths_of(g: Given) -> tuple[int, ...]:
    return tuple(int(length) for length in g["shape"])


def _places(lengths: tuple[int, ...], strides: Array, offset: int, size: int) -> Array:
    places = np.full(lengths, int(offset), np.int64)
    for axis, (length, stride) in enumerate(zip(lengths, strides, strict=True)):
        places += (np.arange(length) * int(stride)).reshape(-1, *[1] * (len(lengths) - axis - 1))
    return places % max(size, 1)


def read(g: Given, operand: str) -> Array:
    """An operand's elements, densely."""
    storage, strides = g[operand], g[f"{operand}_strides"]
    places = _places(lengths_of(g)[: len(strides)], strides, g[f"{operand}_offset"], len(storage))
    return np.take(storage, places) if places.size else np.reshape(storage[:0], places.shape)


def write(g: Given, values: Array) -> Array:
    """The output with a tensor's elements in their places; of several at one place the last is there."""
    storage, strides = g["output"], g["output_strides"]
    places = _places(lengths_of(g)[: len(strides)], strides, g["output_offset"], len(storage)).reshape(-1)
    if not places.size:
        return np.copy(storage)
    owner = np.full(len(storage), -1)
    owner[places] = np.arange(places.size)
    return np.where(owner >= 0, np.take(np.reshape(values, -1), owner), storage)


def rows_of(g: Given) -> Array:
    """What reduce_strided joins: (elements, numbers)."""
    x, kept = read(g, "input"), len(g["output_strides"])
    return np.reshape(x, (math.prod(x.shape[:kept]), math.prod(x.shape[kept:])))


def computed(operation: str, g: Given) -> Array:
    """The operation, wherever the elements lie."""
    if operation == "map_strided":
        return write(g, MAPS[g["function"]](read(g, "input")))
    if operation == "zip_strided":
        return write(g, ZIPS[g["function"]](read(g, "a"), read(g, "b")))
    if operation == "matmul_strided":
        return write(g, np.sum(read(g, "a") * read(g, "b"), axis=-1))
    rows = rows_of(g)
    return write(g, REDUCTIONS[g["function"]](rows, g["start"])) if len(rows) else np.copy(g["output"])


def of_arguments(operation: str, compute: Callable[[Given], Array]) -> Callable[..., Array]:
    """A function with the operation's arguments: compute(those of a call, by name)."""

    @functools.wraps(getattr(ops, operation))
    def function(*args: Any, **kwargs: Any) -> Array:
        return compute(dict(zip(NAMES[operation], args, strict=False)) | kwargs)

    return function


def changed(operation: str, change: Change) -> Callable[..., Array]:
    """The operation with other arguments, which may lead anywhere."""
    return of_arguments(operation, lambda g: computed(operation, g | change(g)))
