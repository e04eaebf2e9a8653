"""Where a call's arrays lie, and how those it needs are made there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from bindings.arrays import DeviceArray, Memory
from bindings.header.records import Function, Parameter
from bindings.shared_object.foreign import from_buffer

from . import explain


class Residence:
    """Of one operation. always: what it returns are DeviceArrays, whatever it is given."""

    def __init__(self, memory: Memory, function: Function, always: bool) -> None:
        self.memory, self._operation, self.always = memory, function.operation, always
        self._names = [p.name for p in function.parameters if p.is_array and not p.host]
        self._lists = [p.name for p in function.parameters if p.is_list]

    def is_resident(self, values: Mapping[str, Any]) -> bool:
        """Whether the call is one on DeviceArrays; where those lie on a device, no other may be among them."""
        if not self.always and not self._any(values):
            return False
        given = list(self._given(values))
        found = [name for name, array in given if type(array) is DeviceArray]
        for name, array in given:
            if type(array) is DeviceArray:
                if self.memory.capture is None:
                    self.memory.touch(array.owner)
                if array.memory.device != self.memory.device:
                    raise explain.elsewhere(self._operation, name, array, self.memory.space.name)
            elif self.memory.space.on_device:
                raise explain.apart(self._operation, name, found[0] if found else "each array of a resident library")
        return True

    def _any(self, values: Mapping[str, Any]) -> bool:
        """Whether there is a DeviceArray: as quick as can be, since calls on host arrays ask too."""
        for name in self._names:
            if type(values.get(name)) is DeviceArray:
                return True
        return bool(self._lists) and any(type(array) is DeviceArray for name in self._lists for array in values[name])

    def arrays(self, values: Mapping[str, Any]) -> list[DeviceArray]:
        """Return the DeviceArrays of a call."""
        return [array for _, array in self._given(values) if type(array) is DeviceArray]

    def _given(self, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for name in self._names:
            if (array := values.get(name)) is not None:
                yield name, array
        for name in self._lists:
            yield from ((f"{name}[{index}]", array) for index, array in enumerate(values[name]))

    def allocate(self, parameter: Parameter, dtype: np.dtype[Any], shape: tuple[int, ...], resident: bool) -> Any:
        """Return an array of unknown contents."""
        if min(shape) < 1 or prod(shape) * dtype.itemsize >= 2**63:
            raise explain.output(self._operation, parameter, shape)
        if resident:
            return self.memory.empty(shape, dtype)
        try:
            return np.empty(shape, dtype)
        except MemoryError as error:
            raise MemoryError(f"{self._operation}: no memory for {parameter.name}, {shape} {dtype}") from error


def as_argument(array: Any) -> Any:
    """Return an array as an entry takes it."""
    return array.pointer if type(array) is DeviceArray else from_buffer(array)
