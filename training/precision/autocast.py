"""A namespace of operations on which each runs in the format that a policy gives it."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from bindings import Function, Parameter, Signature, read_header
from reference.arrays import Array
from reference.namespace import Ops, Wrapped

from .policy import Policy, Rule


def is_half(value: Any) -> bool:
    """Whether it is an array of 16-bit floating-point numbers."""
    dtype = getattr(value, "dtype", None)
    return dtype is not None and dtype.itemsize == 2 and dtype.kind not in "iu"


class Autocast(Wrapped):
    """`autocast.gemm(x, w)` is `ops.gemm_bf16` or `ops.gemm`, by policy; arrays in the other format are cast.

    So the model is written once, and reads nothing of formats.
    """

    def __init__(self, ops: Ops, policy: Policy, suffix: str) -> None:
        super().__init__(ops)
        self._policy, self._suffix = policy, suffix
        self._header = read_header()
        self._cast: tuple[Any, Any] = (None, None)  # the last array narrowed: several products read the same one

    def offers(self, operation: str) -> bool:
        """Whether both forms are offered behind, and the policy has a rule for it."""
        forms = (operation, f"{operation}_{self._suffix}")
        return operation in self._policy.operations and all(super(Autocast, self).offers(form) for form in forms)

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        wide, half = (self._header.operations.get(form) for form in (operation, f"{operation}_{self._suffix}"))
        if wide is None:
            raise AttributeError(f"the header declares no operation {operation}")
        values = _signature(wide).named(args, named)
        chosen = half if half and self._in_sixteen(operation, half, values) else wide
        for parameter in _arrays(chosen):
            if values.get(parameter.name) is not None:
                values[parameter.name] = self._as(parameter, values[parameter.name])
        return getattr(self._ops, chosen.operation)(**values)

    def _in_sixteen(self, name: str, half: Function, values: Mapping[str, Any]) -> bool:
        rule = self._policy.of(name)
        if rule is not Rule.GIVEN:
            return rule is Rule.SIXTEEN
        inputs = (p for p in _arrays(half) if p.type.is_half and p.direction == "in")
        return any(is_half(values[p.name]) for p in inputs)

    def _as(self, parameter: Parameter, array: Array) -> Array:
        if parameter.type.is_half and not is_half(array):
            if parameter.direction == "updated":
                return self.narrow(array)
            if self._cast[0] is not array:
                self._cast = array, self.narrow(array)
            return self._cast[1]
        if parameter.element == "float32" and is_half(array):
            return self.widen(array)
        return array

    def narrow(self, array: Array) -> Array:
        """The array in 16 bits, each number rounded to nearest even."""
        return getattr(self._ops, f"cast_to_{self._suffix}")(array.reshape(-1)).reshape(array.shape)

    def widen(self, array: Array) -> Array:
        """The same numbers in float32."""
        return getattr(self._ops, f"cast_from_{self._suffix}")(array.reshape(-1)).reshape(array.shape)


@functools.cache
def _signature(function: Function) -> Signature:
    return Signature(function)


def _arrays(function: Function) -> Iterator[Parameter]:
    return (p for p in function.parameters if p.is_array and p.direction in ("in", "updated"))
