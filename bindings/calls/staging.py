"""Calls of a library that computes on device memory, made with host arrays: each is copied there and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bindings.arrays import Memory
from bindings.arrays.cache import Block
from bindings.header.records import Function, Parameter
from bindings.shared_object.foreign import address, from_buffer, pointer


class Staging:
    """Copies the arrays of calls to the device's memory and back, through the library's own services."""

    def __init__(self, memory: Memory) -> None:
        self._memory, self._space = memory, memory.space

    def call(
        self, entry: Callable[..., int], function: Function, raw: dict[str, Any], values: Mapping[str, Any]
    ) -> int:
        """Call, and return the code; what went wrong in a kernel is reported here, not by the next call.

        raw: what is passed, by name, arrays lying in host memory; values: the arrays.  Raises CallError where there is
        no memory for them.
        """
        placed = self._copied(_arrays(function, values))
        as_argument = dict(raw)
        for name, blocks in placed.items():
            addresses = [block.address for block in blocks]
            is_list = function.by_name[name].is_list
            as_argument[name] = from_buffer(np.array(addresses, np.uintp)) if is_list else pointer(addresses[0])
        code = entry(*[as_argument[parameter.name] for parameter in function.parameters])
        if code < 0:
            return code
        self._memory.synchronize()
        for parameter, arrays in _arrays(function, values):
            if parameter.direction in ("out", "updated"):
                for array, block in zip(arrays, placed[parameter.name], strict=True):
                    self._space.copy(address(from_buffer(array)), block.address, array.nbytes, self._memory.stream)
        self._memory.synchronize()
        return code

    def _copied(self, given: Iterator[tuple[Parameter, Sequence[Any]]]) -> dict[str, list[Block]]:
        """Return where the arrays lie by name; the last reference to them gives the memory back."""
        placed: dict[str, list[Block]] = {}
        stream = self._memory.stream
        for parameter, arrays in given:
            blocks = placed.setdefault(parameter.name, [])
            for array in arrays:
                blocks.append(self._memory.cache.take(array.nbytes, stream))
                self._space.copy(blocks[-1].address, address(from_buffer(array)), array.nbytes, stream)
        return placed


def _arrays(function: Function, values: Mapping[str, Any]) -> Iterator[tuple[Parameter, Sequence[Any]]]:
    """Yield what lies where the library computes: arrays and, one by one, those of lists."""
    for parameter in function.parameters:
        if parameter.is_list:
            yield parameter, values[parameter.name]
        elif parameter.is_array and not parameter.host and values[parameter.name] is not None:
            yield parameter, [values[parameter.name]]
