"""Checks the arguments of a call before the library sees them: quick tests here, the words in explain.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bindings.arrays import DeviceArray
from bindings.errors import ArgumentError
from bindings.header.expressions import compile_conditions, compile_shapes
from bindings.header.records import Parameter
from bindings.header.signature import Signature, shape_of

from . import explain
from .strides import problem_of

HOST_ARRAYS = frozenset({np.ndarray, np.memmap})
ARRAYS = HOST_ARRAYS | {DeviceArray}
# Bits of ndarray.flags.num: C-contiguous and aligned; the same and writable.
READABLE, WRITABLE = 0x0101, 0x0501


class Checker:
    """The checks of one operation, their tables made once."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.operation = signature.function.operation
        arrays = [p for p in signature.given if p.is_array]
        self._scalars = [(p, p.name, plain_numbers(p)) for p in signature.scalars]
        self._arrays = [(p, p.name, _kinds(p), p.type.dtype, _flags(p), len(p.shape)) for p in arrays]
        self._lists = [(p, p.name, p.type.dtype, _flags(p)) for p in signature.given if p.is_list]
        self._sizes = [(p, p.name, 1, p.type.range[1]) for p in signature.size_parameters]
        self._sizes += [(p, p.name, 0, p.type.range[1]) for p in signature.counts_from_zero]
        self._strided = [(p, p.strided) for p in signature.given if p.strided]
        self._shapes = compile_shapes([axis.size for axis in p.shape] for p in arrays)
        self._requires = compile_conditions(signature.function.requires)
        self._limits = [(p, p.name, p.limit[0] == "WITHIN", p.limit[1]) for p in signature.given if p.limit]
        self.has_limits = bool(self._limits)

    def __call__(self, values: dict[str, Any]) -> dict[str, Any]:
        """Check what the caller passed and return every size and number by name; scalars are converted in place."""
        for parameter, name, (kind, low, high) in self._scalars:
            value = values[name]
            if type(value) is not kind or not low <= value <= high:
                values[name] = explain.number(self.operation, parameter, value)
        shapes = self._check_arrays(values)
        if self._lists:
            self._check_lists(values)
        sizes = self.signature.sizes(values)
        for parameter, name, least, largest in self._sizes:
            if not least <= sizes[name] <= largest:
                raise explain.size(self.signature, parameter, sizes, least)
        if shapes != self._shapes(sizes):
            for parameter, name, *_ in self._arrays:
                self._check_shape(parameter, values[name], sizes)
        try:
            holds = self._requires(sizes)
        except ZeroDivisionError:
            holds = False
        if not holds:
            raise explain.condition(self.signature, sizes)
        for parameter, strided in self._strided:
            lies = (values[strided.shape], values[strided.strides], sizes[strided.offset])
            if wrong := problem_of(*lies, values[parameter.name].size, parameter.written):
                raise ArgumentError(self.operation, parameter.name, *wrong)
        return sizes

    def indices(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arrays that `limits` looks at, to be looked at later: they do not keep their memory."""
        return {name: values[name].unowned() for _, name, *_ in self._limits}

    def limits(self, values: Mapping[str, Any], sizes: Mapping[str, Any]) -> None:
        """Every index is in its range; those that lie on a device are left to it, since looking would be waiting."""
        for parameter, name, within, limit in self._limits:
            indices, bound = values[name], limit.evaluate(sizes)
            if type(indices) is DeviceArray:
                if indices.memory.space.on_device:
                    continue
                indices = indices.to_host()
            if indices.max() >= bound or (within and indices.min() < 0):
                raise explain.index(self.operation, parameter, indices, limit, bound)

    def _check_arrays(self, values: Mapping[str, Any]) -> tuple[tuple[int, ...] | None, ...]:
        """Return the shapes of the arrays, all of them of the right type and number of dimensions."""
        shapes: list[tuple[int, ...] | None] = []
        for parameter, name, kinds, dtype, flags, dimensions in self._arrays:
            array = values[name]
            if array is None and parameter.read_if:
                shapes.append(None)
                continue
            if type(array) not in kinds or array.dtype != dtype or array.flags.num & flags != flags:
                raise explain.array(self.operation, parameter, array)
            if len(shape := array.shape) != dimensions:
                raise explain.array(self.operation, parameter, array)
            shapes.append(shape)
        return tuple(shapes)

    def _check_lists(self, values: Mapping[str, Any]) -> None:
        """Every list holds arrays of one type, as many and of the same shapes as the first list."""
        first, likeness = self._lists[0][1], None
        for parameter, name, dtype, flags in self._lists:
            arrays = values[name]
            if type(arrays) not in (list, tuple):
                raise explain.array_list(self.operation, parameter, arrays)
            for index, array in enumerate(arrays):
                if type(array) not in ARRAYS or array.dtype != dtype or array.flags.num & flags != flags:
                    raise explain.array(self.operation, parameter, array, index)
            shapes = [array.shape for array in arrays]
            likeness = likeness or shapes
            if shapes != likeness:
                raise explain.unlike(self.operation, parameter, arrays, first, values[first])
            for index, array in enumerate(arrays):
                if not array.size:
                    raise explain.empty(self.operation, parameter, array, index)

    def _check_shape(self, parameter: Parameter, array: Any, sizes: Mapping[str, Any]) -> None:
        if array is None:
            if parameter.is_read(sizes):
                raise explain.needed(self.operation, parameter, sizes)
            return
        for axis, length, size in zip(parameter.shape, array.shape, shape_of(parameter, sizes), strict=True):
            if length < size or (length > size and not axis.at_least):
                raise explain.shape(self.signature, parameter, array, sizes)

    def output(self, parameter: Parameter, array: Any, sizes: Mapping[str, Any]) -> None:
        """Check an array that the caller gave to be filled."""
        if (
            type(array) not in ARRAYS
            or array.dtype != parameter.type.dtype
            or array.flags.num & WRITABLE != WRITABLE
            or array.ndim != len(parameter.shape)
        ):
            raise explain.array(self.operation, parameter, array)
        self._check_shape(parameter, array, sizes)


def _kinds(parameter: Parameter) -> frozenset[type]:
    return HOST_ARRAYS if parameter.host else ARRAYS


def _flags(parameter: Parameter) -> int:
    return WRITABLE if parameter.written else READABLE


def plain_numbers(parameter: Parameter) -> tuple[type, Any, Any]:
    """Return type and range of the numbers that need no second look."""
    if parameter.type.is_integer:
        return (int, *parameter.type.range)
    largest = explain.LARGEST[parameter.element]
    return (float, -largest, largest)


def refuse_overlap(operation: str, spans: Iterable[tuple[int, int, str, bool]]) -> None:
    """Raise where an array that is written shares memory with another; a span is (start, stop, name, written)."""
    any_end, any_name, written_end, written_name = 0, "", 0, ""
    for start, stop, name, written in sorted(spans):
        if written and start < any_end:
            raise ArgumentError(operation, name, f"memory apart from {any_name}", "arrays that overlap")
        if start < written_end:
            raise ArgumentError(operation, written_name, f"memory apart from {name}", "arrays that overlap")
        if stop > any_end:
            any_end, any_name = stop, name
        if written and stop > written_end:
            written_end, written_name = stop, name
