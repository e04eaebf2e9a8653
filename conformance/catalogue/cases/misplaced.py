"""Tensors that cannot lie in their storages: elements outside of them, two at one place, lengths that are none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from bindings.calls.strides import problem_of, span
from bindings.header.records import Function, Parameter

Arguments = Mapping[str, Any]
_FAR = 1 << 62  # a stride that no sum of places holds


def misplaced(function: Function, arguments: Arguments) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield by name what cannot stand in place of an offset, or of an entry of a shape or of strides.

    arguments: of a good call, whose tensors have an element each.
    """
    for parameter in (p for p in function.parameters if p.strided):
        yield from _of_offset(parameter, arguments)
        yield from _of_strides(parameter, arguments)
    for name in dict.fromkeys(p.strided.shape for p in function.parameters if p.strided):
        for axis in range(len(arguments[name])):
            yield f"negative_{name}[{axis}]", {f"{name}[{axis}]": -1}
            yield f"elements_of_{name}[{axis}]_past_int64", {f"{name}[{axis}]": 2**63 - 1}
        yield from _of_repeated(function, name, arguments)


def _of_repeated(function: Function, shape: str, arguments: Arguments) -> Iterator[tuple[str, dict[str, int]]]:
    """Along each axis that nothing is written along more elements than are counted, all at one place of the storage."""
    tensors = [p.strided for p in function.parameters if p.strided and p.strided.shape == shape]
    written = [p.strided.strides for p in function.parameters if p.strided and p.written]
    lengths = [int(length) for length in arguments[shape]]
    for axis in range(max(len(arguments[name]) for name in written), len(lengths)):
        if math.prod(lengths[:axis] + lengths[axis + 1 :]) > 1:
            at_one_place = {f"{each.strides}[{axis}]": 0 for each in tensors if axis < len(arguments[each.strides])}
            yield (
                f"elements_of_{shape}[{axis}]_at_one_place_past_int64",
                {f"{shape}[{axis}]": 2**63 - 1, **at_one_place},
            )


def _lies(parameter: Parameter, arguments: Arguments) -> tuple[list[int], list[int], int, int]:
    """The lengths, the strides, the offset and the size of a tensor's storage."""
    assert parameter.strided
    strides = [int(stride) for stride in arguments[parameter.strided.strides]]
    shape = [int(length) for length in arguments[parameter.strided.shape]][: len(strides)]
    return shape, strides, int(arguments[parameter.strided.offset]), arguments[parameter.name].size


def _of_offset(parameter: Parameter, arguments: Arguments) -> Iterator[tuple[str, dict[str, int]]]:
    """One place too far on either side, and as far as the type goes."""
    assert parameter.strided
    shape, strides, offset, size = _lies(parameter, arguments)
    if 0 in shape:
        return
    first, last = span(shape, strides, offset)
    name = parameter.strided.offset
    yield f"{parameter.name}_begins_before", {name: offset - first - 1}
    yield f"{parameter.name}_ends_behind", {name: offset + size - last}
    yield f"{name}_largest", {name: 2**63 - 1}
    yield f"{name}_smallest", {name: -(2**63)}


def _of_strides(parameter: Parameter, arguments: Arguments) -> Iterator[tuple[str, dict[str, int]]]:
    """Along each axis that is longer than 1 strides that lead out of the storage, or to a place that is taken."""
    assert parameter.strided
    shape, strides, offset, size = _lies(parameter, arguments)
    for axis, length in enumerate(shape):
        if length < 2 or 0 in shape:
            continue
        entry = f"{parameter.strided.strides}[{axis}]"
        for what, bad in (("behind", size), ("before", -size), ("far", _FAR), ("far_before", -_FAR)):
            yield f"{entry}_leads_{what}", {entry: bad}
        if parameter.written:
            shared = [0, *(stride for other, stride in enumerate(strides) if other != axis and shape[other] > 1)]
            for bad in dict.fromkeys(shared):
                changed = [*strides[:axis], bad, *strides[axis + 1 :]]
                if problem_of(shape, changed, offset, size, True):
                    yield f"{entry}={bad}_shares_places", {entry: bad}
