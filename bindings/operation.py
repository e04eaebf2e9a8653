"""One operation of one library as a Python function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from math import prod
from typing import Any

import numpy as np

from . import explain
from .checks import Checker, overlapping
from .errors import ArgumentError, ArgumentTypeError, CallError
from .expressions import compile_tuple
from .foreign import address, from_buffer
from .records import Header, Parameter
from .signature import Signature

_LARGEST_ARRAY = 2**63 - 1


class Operation:
    """Callable: checks, allocates, calls.  Raises ArgumentError before the call and CallError after it."""

    def __init__(self, header: Header, signature: Signature, entry: Callable[..., int], stream: Any) -> None:
        self.signature, self.header, self._entry, self._stream = signature, header, entry, stream
        self.__name__ = self.__qualname__ = self.operation = signature.function.operation
        self.__doc__ = signature.function.doc
        self.__signature__ = signature.python()
        self._check = Checker(signature)
        self._names = signature.names
        self._fills = [(p, p.name, p.type.dtype, compile_tuple([a.size for a in p.shape])) for p in self._filled()]
        self._updated = [p.name for p in signature.returned if p.direction == "updated"]
        self._returned = tuple(p.name for p in signature.returned)
        self._order = tuple(p.name for p in signature.function.parameters)
        self._arrays = tuple(p.name for p in signature.function.parameters if p.is_array)
        self._lists = tuple(p.name for p in signature.function.parameters if p.is_list)

    def _filled(self) -> list[Parameter]:
        """Arrays that may have to be allocated."""
        conditional = [p for p in self.signature.given if p.updated_if]
        return [*self.signature.outputs, *self.signature.workspaces, *conditional]

    def __repr__(self) -> str:
        return f"<operation {self.operation}{self.__signature__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = dict(zip(self._names, args, strict=False))
        if kwargs or len(args) != len(self._names):
            self._bind(values, args, kwargs)
        sizes = self._check(values)
        written = [name for name in self._updated if values[name] is not None]
        for parameter, name, dtype, shape in self._fills:
            array = values.get(name)
            if array is None:
                values[name] = self._allocate(parameter, dtype, shape(sizes))
            elif parameter.direction == "out":
                self._check.output(parameter, array, shape(sizes), sizes)
                written.append(name)
        if self._lists:
            for name, described in self.signature.lengths.items():
                values[name] = np.array([array.size for array in values[described]], np.int64)
        raw = {"stream": self._stream, **sizes}
        for name in self._arrays:
            raw[name] = from_buffer(values[name])
        keep = {name: self._pointers(values[name]) for name in self._lists}
        for name, (_, pointers) in keep.items():
            raw[name] = from_buffer(pointers)
        if written:
            self._refuse_overlap(values, raw, written)
        code = self._entry(*[raw[name] for name in self._order])
        if code:
            raise CallError(self.operation, code, self.header.meaning(code))
        if len(self._returned) == 1:
            return values[self._returned[0]]
        return tuple([values[name] for name in self._returned])

    def _bind(self, values: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Give every name its value, or say which one is missing, unknown or given twice."""
        names, call = self._names, f"{self.operation}{self.__signature__}"
        if len(args) > len(names):
            raise ArgumentTypeError(
                self.operation, f"number {len(names) + 1}", call, explain.describe(args[len(names)])
            )
        known = self.__signature__.parameters
        for name, value in kwargs.items():
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                raise ArgumentTypeError(self.operation, name, call, f"no such argument{hint}")
            if name in values:
                raise ArgumentTypeError(self.operation, name, "one value", "two")
            values[name] = value
        for name in names:
            if name not in values:
                raise ArgumentTypeError(self.operation, name, call, "nothing")

    def _allocate(self, parameter: Parameter, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
        smallest, total = min(shape), prod(shape) * dtype.itemsize
        if smallest < 1 or total > _LARGEST_ARRAY:
            expected = f"shape {parameter.shape_text} of 1 to {_LARGEST_ARRAY} bytes, no size below 1"
            raise ArgumentError(self.operation, parameter.name, expected, f"{shape}, {total} bytes")
        try:
            return np.empty(shape, dtype)
        except MemoryError as error:
            problem = f"{self.operation}: no memory for {parameter.name} {shape}, {total} bytes"
            raise MemoryError(problem) from error

    def _pointers(self, arrays: Any) -> tuple[Any, Any]:
        """Return the arrays of a list, kept in place, and an array of their addresses."""
        buffers = [from_buffer(array) for array in arrays]
        return buffers, np.array([address(buffer) for buffer in buffers], np.uintp)

    def _refuse_overlap(self, values: Mapping[str, Any], raw: Mapping[str, Any], written: list[str]) -> None:
        spans = []
        for name in self._arrays:
            start = address(raw[name])
            spans.append((start, start + values[name].nbytes, name, name in written))
        for name in self._lists:
            for index, array in enumerate(values[name]):
                start = address(from_buffer(array))
                spans.append((start, start + array.nbytes, f"{name}[{index}]", name in written))
        if pair := overlapping(spans):
            raise ArgumentError(self.operation, pair[0], f"memory apart from {pair[1]}", "arrays that overlap")
