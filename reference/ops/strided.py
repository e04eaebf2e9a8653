"""Operations on tensors of any layout: element by element, along axes, and products of matrices.

A tensor is a storage, an array of one axis, and where its elements lie there: element (i_0, i_1, ...) at offset +
sum of i_k * strides[k].  Shapes and strides are arrays of whole numbers; a stride of 0 repeats an axis, a negative one
turns it about.  What no element names keeps its contents.
"""

from __future__ import annotations

import math

import numpy as np

from reference.arrays import Array, check, ieee

from .strided_functions import MAPS, REDUCTIONS, ZIPS

MOST_AXES = 32


@ieee
def map_strided(
    input: Array,
    output: Array,
    shape: Array,
    input_strides: Array,
    output_strides: Array,
    input_offset: int,
    output_offset: int,
    function: int,
) -> Array:
    """f(input), element by element, laid into output. input, output: storages; shape and strides: (axes,).

    function: the number of ASSAYER_MAP_... Raises ValueError for an element outside of its storage, or two elements of
    output at one place.
    """
    lengths = _lengths("map_strided", shape)
    f = _named("map_strided", MAPS, function)
    x = _read("map_strided", "input", input, lengths, input_strides, input_offset)
    return _write("map_strided", output, f(x), lengths, output_strides, output_offset)


@ieee
def zip_strided(
    a: Array,
    b: Array,
    output: Array,
    shape: Array,
    a_strides: Array,
    b_strides: Array,
    output_strides: Array,
    a_offset: int,
    b_offset: int,
    output_offset: int,
    function: int,
) -> Array:
    """f(a, b), element by element, laid into output. a, b, output: storages; shape and strides: (axes,).

    function: the number of ASSAYER_ZIP_... Raises ValueError as map_strided does.
    """
    lengths = _lengths("zip_strided", shape)
    f = _named("zip_strided", ZIPS, function)
    x = _read("zip_strided", "a", a, lengths, a_strides, a_offset)
    y = _read("zip_strided", "b", b, lengths, b_strides, b_offset)
    return _write("zip_strided", output, f(x, y), lengths, output_strides, output_offset)


@ieee
def reduce_strided(
    input: Array,
    output: Array,
    shape: Array,
    input_strides: Array,
    output_strides: Array,
    input_offset: int,
    output_offset: int,
    function: int,
    start: float,
) -> Array:
    """start joined with all that input has along its last axes, for each element of the first ones, laid into output.

    input, output: storages; shape and input_strides: (axes,), output_strides: (kept,). function: the number of
    ASSAYER_REDUCE_... Raises ValueError as map_strided does.
    """
    lengths = _lengths("reduce_strided", shape)
    kept, axes = len(output_strides), len(lengths)
    check(kept <= axes, "reduce_strided", "output_strides", f"at most {axes} axes, those of shape", kept)
    f = _named("reduce_strided", REDUCTIONS, function)
    x = _read("reduce_strided", "input", input, lengths, input_strides, input_offset)
    elements, each = math.prod(lengths[:kept]), math.prod(lengths[kept:])
    joined = np.reshape(f(np.reshape(x, (elements, each)), start), lengths[:kept]) if elements else x
    return _write("reduce_strided", output, joined, lengths[:kept], output_strides, output_offset)


@ieee
def matmul_strided(
    a: Array,
    b: Array,
    output: Array,
    shape: Array,
    a_strides: Array,
    b_strides: Array,
    output_strides: Array,
    a_offset: int,
    b_offset: int,
    output_offset: int,
) -> Array:
    """Sums over the last axis of a * b, laid into output; a product of matrices where a repeats along N and b along M.

    a, b, output: storages; shape, (axes,): the axes of a batch, then M, N, K; a_strides and b_strides: (axes,),
    output_strides: (axes - 1,). Raises ValueError as map_strided does.
    """
    lengths = _lengths("matmul_strided", shape)
    check(len(lengths) >= 3, "matmul_strided", "shape", "at least 3 axes: M, N and K", len(lengths))
    a_steps = _steps("matmul_strided", "a", a_strides, lengths)
    b_steps = _steps("matmul_strided", "b", b_strides, lengths)
    if not math.prod(lengths):
        sums = np.zeros(lengths[:-1], a.dtype)
    elif _repeats(lengths, a_steps, -2) and _repeats(lengths, b_steps, -3):
        batch, (m, n, k) = lengths[:-3], lengths[-3:]
        left = _read("matmul_strided", "a", a, (*batch, m, 1, k), a_strides, a_offset)
        right = _read("matmul_strided", "b", b, (*batch, 1, n, k), b_strides, b_offset)
        right = np.reshape(right, (*batch, n, k))
        sums = np.reshape(left, (*batch, m, k)) @ np.swapaxes(right, -1, -2)
    else:
        left = _read("matmul_strided", "a", a, lengths, a_strides, a_offset)
        right = _read("matmul_strided", "b", b, lengths, b_strides, b_offset)
        sums = np.sum(left * right, axis=-1)
    return _write("matmul_strided", output, sums, lengths[:-1], output_strides, output_offset)


def _repeats(lengths: tuple[int, ...], steps: tuple[int, ...], axis: int) -> bool:
    """Whether a tensor is the same all along an axis."""
    return lengths[axis] <= 1 or steps[axis] == 0


def _named(operation: str, functions: tuple[object, ...], number: int) -> Array:
    check(0 <= number < len(functions), operation, "function", f"0 <= function < {len(functions)}", number)
    return functions[number]


def _lengths(operation: str, shape: Array) -> tuple[int, ...]:
    lengths = _whole(operation, "shape", shape)
    check(len(lengths) <= MOST_AXES, operation, "shape", f"at most {MOST_AXES} axes", len(lengths))
    check(all(length >= 0 for length in lengths), operation, "shape", "lengths from 0 up", lengths)
    return lengths


def _steps(operation: str, argument: str, strides: Array, lengths: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a tensor, one for each of its axes."""
    steps = _whole(operation, f"{argument}_strides", strides)
    check(len(steps) == len(lengths), operation, f"{argument}_strides", f"{len(lengths)} of them", len(steps))
    return steps


def _whole(operation: str, argument: str, entries: Array) -> tuple[int, ...]:
    numbers = tuple(int(entry) for entry in entries)
    check(
        all(n == entry for n, entry in zip(numbers, entries, strict=True)),
        operation,
        argument,
        "whole numbers",
        entries,
    )
    return numbers


def _places(
    operation: str, argument: str, size: int, lengths: tuple[int, ...], strides: Array, offset: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Where each element lies in a storage of that size."""
    steps = _steps(operation, argument, strides, lengths)
    if 0 in lengths:
        return np.zeros(lengths, np.int64)
    reaches = [(length - 1) * step for length, step in zip(lengths, steps, strict=True)]
    first, last = (offset + sum(bound(reach, 0) for reach in reaches) for bound in (min, max))
    inside = first >= 0 and last < size
    check(inside, operation, argument, f"every element inside its {size} places", f"{first} to {last}")
    places = np.full(lengths, offset, np.int64)
    for axis, (length, step) in enumerate(zip(lengths, steps, strict=True)):
        places += (np.arange(length) * step).reshape(-1, *[1] * (len(lengths) - axis - 1))
    return places


def _read(
    operation: str, argument: str, storage: Array, lengths: tuple[int, ...], strides: Array, offset: int
) -> Array:
    """The tensor's elements, densely."""
    places = _places(operation, argument, len(storage), lengths, strides, offset)
    return np.take(storage, places) if places.size else np.reshape(storage[:0], lengths)


def _write(
    operation: str, storage: Array, values: Array, lengths: tuple[int, ...], strides: Array, offset: int
) -> Array:
    """A copy of the storage with a tensor's elements in their places."""
    places = _places(operation, "output", len(storage), lengths, strides, offset).reshape(-1)
    if not places.size:
        return np.copy(storage)
    owner = np.full(len(storage), -1)
    owner[places] = np.arange(places.size)
    check(np.count_nonzero(owner >= 0) == places.size, operation, "output", "a place for each element", "shared ones")
    return np.where(owner >= 0, np.take(np.reshape(values, -1), owner), storage)
