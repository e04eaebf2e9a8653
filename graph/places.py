"""The calls of a trace made on other arrays: those of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bindings import DeviceArray, Library

from .plan import Plan
from .trace import Call, Trace


class Places:
    """Where each array of a trace lies: by the plan, in an array of its own, or where it lay."""

    def __init__(self, trace: Trace, found: Plan, fixed: Mapping[int, DeviceArray], library: Library) -> None:
        self._trace, self._plan, self._fixed, self._library = trace, found, fixed, library
        self._arena = library.memory.empty((max(1, found.peak),), np.uint8)

    def of(self, array: DeviceArray) -> DeviceArray:
        """The array's counterpart."""
        slot = self._trace.slot(array)
        if slot is None:
            return array
        if slot in self._fixed:
            return self._fixed[slot].reshape(*array.shape)
        at = self._arena.address + self._plan.offsets[slot]
        return DeviceArray(self._arena.memory, at, array.shape, array.dtype, self._arena.owner)

    def call(self, call: Call) -> None:
        """Make a call on the counterparts of its arrays."""
        arguments = {name: self._value(value) for name, value in call.arguments.items()}
        for name, value in call.returned.items():
            if arguments.get(name) is None:
                arguments[name] = self._value(value)
        getattr(self._library, call.operation)(**arguments)

    def _value(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._value(one) for one in value]
        return self.of(value) if isinstance(value, DeviceArray) else value
