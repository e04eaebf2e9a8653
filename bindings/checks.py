"""Checks the arguments of a call before the library sees them: quick tests here, words in explain.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import explain
from .expressions import compile_tuple
from .records import Parameter
from .signature import Signature

ARRAYS = frozenset({np.ndarray, np.memmap})
READABLE = 0x0101  # C-contiguous and aligned, as ndarray.flags.num counts
WRITABLE = 0x0501


class Checker:
    """The checks of one operation, looked up once."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.operation = signature.function.operation
        self._arrays = [(p, p.name, p.type.dtype, _flags(p), len(p.shape)) for p in signature.given if p.is_array]
        self._lists = [(p, p.name, p.type.dtype, _flags(p)) for p in signature.given if p.is_list]
        self._scalars = [(p, p.name, *_plain_numbers(p)) for p in signature.scalars]
        self._sizes = [(p, p.name, p.type.range[1]) for p in signature.size_parameters]
        self._shapes = [
            (p, p.name, compile_tuple([a.size for a in p.shape]), any(a.at_least for a in p.shape))
            for p in signature.given
            if p.is_array
        ]
        self._limits = [(p, p.name, p.limit[0] == "WITHIN", p.limit[1]) for p in signature.given if p.limit]
        self._requires = [(condition, condition.evaluate) for condition in signature.function.requires]

    def __call__(self, values: dict[str, Any]) -> dict[str, Any]:
        """Check what the caller passed and return every size and number by name; scalars are converted in place."""
        for parameter, name, kind, low, high in self._scalars:
            value = values[name]
            if type(value) is not kind or not low <= value <= high:
                values[name] = explain.number(self.operation, parameter, value)
        for parameter, name, dtype, flags, ndim in self._arrays:
            array = values[name]
            if (
                type(array) not in ARRAYS
                or array.dtype != dtype
                or array.flags.num & flags != flags
                or array.ndim != ndim
            ) and not (array is None and parameter.updated_if):
                raise explain.array(self.operation, parameter, array)
        if self._lists:
            self._check_lists(values)
        sizes = self.signature.sizes(values)
        for parameter, name, largest in self._sizes:
            if not 1 <= sizes[name] <= largest:
                raise explain.size(self.signature, parameter, sizes)
        for parameter, name, shape, longer in self._shapes:
            array = values[name]
            if array is not None and array.shape != shape(sizes):
                self._check_shape(parameter, array, shape(sizes), sizes, longer)
        self._check_values(values, sizes)
        return sizes

    def _check_lists(self, values: Mapping[str, Any]) -> None:
        """Every list holds arrays of one type, as many and of the same shapes as the first list."""
        first = self._lists[0][1]
        for parameter, name, dtype, flags in self._lists:
            arrays = values[name]
            if type(arrays) not in (list, tuple):
                raise explain.array_list(self.operation, parameter, arrays)
            for index, array in enumerate(arrays):
                if type(array) not in ARRAYS or array.dtype != dtype or array.flags.num & flags != flags:
                    raise explain.array(self.operation, parameter, array, index)
                if not array.size:
                    raise explain.empty(self.operation, parameter, array, index)
            if name != first and [a.shape for a in arrays] != [a.shape for a in values[first]]:
                raise explain.unlike(self.operation, parameter, arrays, first, values[first])

    def _check_shape(
        self, parameter: Parameter, array: Any, expected: tuple[int, ...], sizes: Mapping[str, Any], longer: bool
    ) -> None:
        if not longer or not all(
            length >= size if axis.at_least else length == size
            for axis, length, size in zip(parameter.shape, array.shape, expected, strict=True)
        ):
            raise explain.shape(self.signature, parameter, array, sizes)

    def _check_values(self, values: Mapping[str, Any], sizes: Mapping[str, Any]) -> None:
        for condition, holds in self._requires:
            if not _holds(holds, sizes):
                raise explain.condition(self.signature, condition, sizes)
        for parameter, name, within, limit in self._limits:
            array, bound = values[name], limit.evaluate(sizes)
            if array.max() >= bound or (within and array.min() < 0):
                raise explain.index(self.operation, parameter, array, limit, bound)
        for parameter in self.signature.given:
            if parameter.updated_if and values[parameter.name] is None and parameter.updated_if(sizes):
                raise explain.needed(self.operation, parameter, sizes)

    def output(self, parameter: Parameter, array: Any, shape: tuple[int, ...], sizes: Mapping[str, Any]) -> None:
        """Check an array that the caller gave to be filled."""
        problem = type(array) not in ARRAYS or array.dtype != parameter.type.dtype
        if problem or array.flags.num & WRITABLE != WRITABLE or array.ndim != len(shape):
            raise explain.array(self.operation, parameter, array)
        if array.shape != shape:
            self._check_shape(parameter, array, shape, sizes, any(axis.at_least for axis in parameter.shape))


def _flags(parameter: Parameter) -> int:
    return WRITABLE if parameter.written else READABLE


def _plain_numbers(parameter: Parameter) -> tuple[type, float, float]:
    """Return type and range of the values that need no second look."""
    if parameter.type.is_integer:
        return (int, *parameter.type.range)
    largest = explain.LARGEST[parameter.element]
    return (float, -largest, largest)


def _holds(condition: Callable[[Mapping[str, Any]], Any], sizes: Mapping[str, Any]) -> bool:
    try:
        return bool(condition(sizes))
    except ZeroDivisionError:
        return False


def overlapping(spans: Sequence[tuple[int, int, str, bool]]) -> tuple[str, str] | None:
    """Return two arrays of which one is written and that share memory; a span is (start, stop, name, written)."""
    any_end, any_name, written_end, written_name = 0, "", 0, ""
    for start, stop, name, written in sorted(spans):
        if written and start < any_end:
            return name, any_name
        if start < written_end:
            return written_name, name
        if stop > any_end:
            any_end, any_name = stop, name
        if written and stop > written_end:
            written_end, written_name = stop, name
    return None
