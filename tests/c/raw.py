"""Calls straight through C: every argument as it stands in the declaration, nothing checked on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bindings import Function, Header, Signature, shape_of
from bindings.shared_object.foreign import SharedObject, from_buffer, pointer
from tests.reference.samples import SAMPLES, Draw


class Call:
    """One operation with the sample arguments of the reference's tests, its outputs poisoned.

    `numbers` holds the numbers, `arrays` the arrays and lists of arrays, by the header's names.
    """

    def __init__(self, library: SharedObject, function: Function, n: int | None = None) -> None:
        """n: as long as this, the arrays that have that many elements."""
        signature, given = Signature(function), SAMPLES[function.operation](Draw(function.operation, np.float32))
        if n is not None:
            given |= {name: np.resize(given[name], n) for name in _flat(function) & given.keys()}
        self.function = function
        self._entry: Any = library.entry(function.symbol, function.types)
        self.numbers: dict[str, Any] = signature.sizes(given)
        self.arrays: dict[str, Any] = {}
        for parameter in function.parameters:
            if parameter.name in signature.lengths:
                lengths = [array.size for array in given[signature.lengths[parameter.name]]]
                self.arrays[parameter.name] = np.array(lengths, np.int64)
            elif parameter.name in given and not parameter.is_scalar:
                self.arrays[parameter.name] = given[parameter.name]
            elif parameter.is_array:
                empty = np.empty(shape_of(parameter, self.numbers), parameter.type.dtype)
                empty.view(np.uint8)[...] = 0xFF
                self.arrays[parameter.name] = empty

    def __call__(self, **spoilt: Any) -> int:
        """Return the code of the call with some arguments replaced; None is a null pointer."""
        values: dict[str, Any] = {"stream": None, **self.numbers, **self.arrays, **spoilt}
        held = [_passed(values[parameter.name]) for parameter in self.function.parameters]
        return int(self._entry(*(argument for argument, _ in held)))

    def contents(self) -> list[bytes]:
        """The bytes of every array."""
        lists = (value if isinstance(value, list) else [value] for value in self.arrays.values())
        return [array.tobytes() for arrays in lists for array in arrays]


def _flat(function: Function) -> set[str]:
    """The arrays of an operation that have one axis, of n elements."""
    return {p.name for p in function.parameters if p.is_array and [axis.size.text for axis in p.shape] == ["n"]}


def _passed(value: Any) -> tuple[Any, Any]:
    """(what the entry takes, what must live as long as the call)."""
    if value is None:
        return pointer(0), None
    if isinstance(value, list):
        addresses = np.array([0 if array is None else array.ctypes.data for array in value], np.uint64)
        return from_buffer(addresses), addresses
    return (from_buffer(value), value) if isinstance(value, np.ndarray) else (value, None)


def calls(header: Header, path: Path) -> list[Call]:
    """A fresh call of every operation of a library."""
    library = SharedObject(path)
    return [Call(library, function) for function in header.operations.values()]


def long_calls(header: Header, path: Path, n: int) -> list[Call]:
    """A fresh call of every operation on arrays of n elements, with so many of them."""
    library = SharedObject(path)
    return [Call(library, function, n) for function in header.operations.values() if _flat(function)]
