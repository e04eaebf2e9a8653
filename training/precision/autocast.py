"""A namespace of operations on which each runs in the format that a policy gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from bindings import Function, Signature, read_header
from reference.arrays import Array
from reference.namespace import Ops, Wrapped, offers

from .policy import Policy, Rule

_ALONE = ("router_gemm",)  # gemm in 16 bits would round the logits


def is_half(value: Any) -> bool:
    """Whether it is an array of 16-bit floating-point numbers."""
    dtype = getattr(value, "dtype", None)
    return dtype is not None and dtype.itemsize == 2 and dtype.kind not in "iu"


class Given(NamedTuple):
    """An array of floating-point numbers that a caller gives: its name, whether it lies in 16 bits, or is updated."""

    name: str
    half: bool
    updated: bool


class Form(NamedTuple):
    """One declaration of an operation: its name, and what has to lie in its format."""

    operation: str
    arrays: tuple[Given, ...]


class Forms(NamedTuple):
    """An operation in float32 and in 16 bits, if it has that form; how it is called, and when in 16 bits.

    That is where one of the arrays `asked` lies so, or where nothing is asked, always.
    """

    wide: Form
    half: Form | None
    signature: Signature
    asked: tuple[str, ...]


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
        """Whether both forms are offered behind, or no parts do the same, and the policy has a rule for it."""
        forms = (operation, f"{operation}_{self._suffix}")
        offered = all(offers(self._ops, form) for form in forms)
        return self.is_needed(operation) or (operation in self._policy.operations and offered)

    def is_needed(self, operation: str) -> bool:
        """Whether it rounds less than what else does the same, and the policy has a rule for it."""
        return operation in _ALONE and operation in self._policy.operations

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        forms = self._forms.get(operation) or self._find(operation)
        values = forms.signature.named(args, named)
        chosen = forms.half if forms.half and _in_sixteen(forms.asked, values) else forms.wide
        for given in chosen.arrays:
            array = values.get(given.name)
            if array is not None and is_half(array) is not given.half:
                values[given.name] = self._cast_to(given, array)
        return getattr(self._ops, chosen.operation)(**values)

    def _find(self, operation: str) -> Forms:
        declared = read_header().operations
        wide, half = (declared.get(form) for form in (operation, f"{operation}_{self._suffix}"))
        if wide is None:
            raise AttributeError(f"the header declares no operation {operation}")
        rule = self._policy.of(operation)
        short = _form(half) if half and rule is not Rule.FLOAT32 else None
        asked = _inputs_in_sixteen(short) if short and rule is Rule.GIVEN else ()
        if rule is Rule.GIVEN and not asked:
            short = None
        forms = Forms(_form(wide), short, Signature(wide), asked)
        self._forms[operation] = forms
        return forms

    def _cast_to(self, given: Given, array: Array) -> Array:
        """An array that lies in the other format."""
        if not given.half:
            return self.widen(array)
        if given.updated:
            return self.narrow(array)
        if self._cast[0] is not array:
            self._cast = array, self.narrow(array)
        return self._cast[1]

    def narrow(self, array: Array) -> Array:
        """The array in 16 bits, each number rounded to nearest even."""
        return getattr(self._ops, f"cast_to_{self._suffix}")(array.reshape(-1)).reshape(array.shape)

    def widen(self, array: Array) -> Array:
        """The same numbers in float32."""
        return getattr(self._ops, f"cast_from_{self._suffix}")(array.reshape(-1)).reshape(array.shape)


def _form(function: Function) -> Form:
    arrays = (p for p in function.parameters if p.is_array and p.direction in ("in", "updated"))
    floats = (p for p in arrays if p.type.is_half or p.element == "float32")
    return Form(function.operation, tuple(Given(p.name, p.type.is_half, p.direction == "updated") for p in floats))


def _inputs_in_sixteen(half: Form) -> tuple[str, ...]:
    """Inputs that lie in 16 bits; where there are none but what is updated, that."""
    halves = [given for given in half.arrays if given.half]
    return tuple(given.name for given in [given for given in halves if not given.updated] or halves)


def _in_sixteen(asked: tuple[str, ...], values: Mapping[str, Any]) -> bool:
    """Whether a call of these values, whose operation has a form in 16 bits that may be used, computes in it."""
    return not asked or any(is_half(values[name]) for name in asked)
