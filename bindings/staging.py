"""Calls of a library that computes on device memory, made with host arrays: each is copied there and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .foreign import from_buffer, pointer
from .records import Function, Parameter
from .services import Services


class Staging:
    """Copies the arrays of calls to the device's memory and back, through the library's own services."""

    def __init__(self, services: Services, stream: int | None) -> None:
        self._services, self._stream = services, stream

    def call(
        self, entry: Callable[..., int], function: Function, raw: dict[str, Any], values: Mapping[str, Any]
    ) -> int:
        """Call, and return the code; what went wrong in a kernel is reported here, not by the next call.

        raw: what is passed, by name, arrays lying in host memory; values: the arrays.  Raises CallError where there is
        no memory for them.
        """
        with self._copied(_arrays(function, values)) as placed:
            passed = dict(raw)
            for name, addresses in placed.items():
                if function.by_name[name].is_list:
                    passed[name] = from_buffer(np.array(addresses, np.uintp))
                else:
                    passed[name] = pointer(addresses[0])
            code = entry(*[passed[parameter.name] for parameter in function.parameters])
            if code < 0:
                return code
            self._services.synchronize(self._stream)
            for parameter, arrays in _arrays(function, values):
                if parameter.direction in ("out", "updated"):
                    self._back(arrays, placed[parameter.name])
            return code

    @contextmanager
    def _copied(self, given: Iterator[tuple[Parameter, Sequence[Any]]]) -> Iterator[dict[str, list[int]]]:
        placed: dict[str, list[int]] = {}
        try:
            for parameter, arrays in given:
                addresses = placed.setdefault(parameter.name, [])
                for array in arrays:
                    addresses.append(self._services.allocate(array.nbytes))
                    self._services.copy(addresses[-1], array, array.nbytes, self._stream)
            yield placed
        finally:
            for address in (address for addresses in placed.values() for address in addresses):
                self._services.free(address)

    def _back(self, arrays: Sequence[Any], addresses: Sequence[int]) -> None:
        for array, address in zip(arrays, addresses, strict=True):
            self._services.copy(array, address, array.nbytes, self._stream)
        self._services.synchronize(self._stream)


def _arrays(function: Function, values: Mapping[str, Any]) -> Iterator[tuple[Parameter, Sequence[Any]]]:
    """Yield what lies where the library computes: arrays and, one by one, those of lists."""
    for parameter in function.parameters:
        if parameter.is_list:
            yield parameter, values[parameter.name]
        elif parameter.is_array and not parameter.host:
            yield parameter, [values[parameter.name]]
