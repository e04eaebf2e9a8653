"""A namespace of operations on which each runs in the format that a policy gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from bindings import Function, Parameter, Signature, read_header
from reference.arrays import Array
from reference.namespace import Ops, Wrapped, offers

from .policy import Policy, Rule


def is_half(value: Any) -> bool:
    """Whether it is an array of 16-bit floating-point numbers."""
    dtype = getattr(value, "dtype", None)
    return dtype is not None and dtype.itemsize == 2 and dtype.kind not in "iu"


class Form(NamedTuple):
    """One declaration of an operation: its name, and the arrays that a caller gives it."""

    operation: str
    arrays: tuple[Parameter, ...]


class Forms(NamedTuple):
    """An operation in float32 and in 16 bits, if it has that form; how it is called, and its rule."""

    wide: Form
    half: Form | None
    signature: Signature
    rule: Rule


class Autocast(Wrapped):
    """`autocast.gemm(x, w)` is `ops.gemm_bf16` or `ops.gemm`, by policy; arrays in the other format are cast.

    So the model is written once, and reads nothing of formats.
    """

    def __init__(self, ops: Ops, policy: Policy, suffix: str) -> None:
        super().__init__(ops)
        self._policy, self._suffix = policy, suffix
        self._forms: dict[str, Forms] = {}  # looked up once: a step makes hundreds of calls
        self._cast: tuple[Any, Any] = (None, None)  # the last array narrowed: several products read the same one

    def offers(self, operation: str) -> bool:
        """Whether both forms are offered behind, and the policy has a rule for it."""
        forms = (operation, f"{operation}_{self._suffix}")
        return operation in self._policy.operations and all(offers(self._ops, form) for form in forms)

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        forms = self._forms.get(operation) or self._find(operation)
        values = forms.signature.named(args, named)
        chosen = forms.half if forms.half and _in_sixteen(forms.rule, forms.half, values) else forms.wide
        for parameter in chosen.arrays:
            if values.get(parameter.name) is not None:
                values[parameter.name] = self._as(parameter, values[parameter.name])
        return getattr(self._ops, chosen.operation)(**values)

    def _find(self, operation: str) -> Forms:
        declared = read_header().operations
        wide, half = (declared.get(form) for form in (operation, f"{operation}_{self._suffix}"))
        if wide is None:
            raise AttributeError(f"the header declares no operation {operation}")
        forms = Forms(_form(wide), _form(half) if half else None, Signature(wide), self._policy.of(operation))
        self._forms[operation] = forms
        return forms

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


def _form(function: Function) -> Form:
    arrays = (p for p in function.parameters if p.is_array and p.direction in ("in", "updated"))
    return Form(function.operation, tuple(arrays))


def _in_sixteen(rule: Rule, half: Form, values: Mapping[str, Any]) -> bool:
    """Whether a call of these values computes in 16 bits; an operation that takes what it is given asks its inputs."""
    if rule is not Rule.GIVEN:
        return rule is Rule.SIXTEEN
    halves = [p for p in half.arrays if p.type.is_half]
    inputs = [p for p in halves if p.direction == "in"] or halves  # of what is updated alone, that
    return any(is_half(values[p.name]) for p in inputs)
