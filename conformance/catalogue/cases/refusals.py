"""Calls that must be refused: derived from the header, argument by argument, condition by condition.

A refused call returns ASSAYER_INVALID and has written nothing.  The buffers are real and of the right size; what is
passed in place of an argument is given by `override`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bindings.header.records import Function, Parameter
from conformance import operations

from .spec import Arguments, Case

INVALID = -2
_TRIED = (-1, 0, 3, 2**31 - 1)


@dataclass(frozen=True)
class Refusal:
    """A call of one operation with one argument that cannot be."""

    operation: str
    name: str
    base: Case  # a good call, of which one argument is replaced
    override: Mapping[str, Any]  # what C gets in place of an argument: None is a null pointer
    value: tuple[str, int] | None = None  # or: the first element of an index array, and what it becomes

    @property
    def id(self) -> str:
        return f"{self.operation}/refused/{self.name}"

    @property
    def fault(self) -> str:
        """What is wrong with the call, in words."""
        wrong = {f"{self.value[0]}[0]": self.value[1]} if self.value else self.override
        return ", ".join(f"{name} = {'null' if bad is None else bad}" for name, bad in wrong.items())

    def arguments(self, seed: int = 0) -> Arguments:
        arguments = self.base.arguments(seed)
        if self.value:
            name, bad = self.value
            changed = arguments[name].copy()
            changed.flat[0] = bad
            arguments[name] = changed
        return arguments


def refusals(cases: Sequence[Case]) -> list[Refusal]:
    """Return every refusal of one operation, built on that one of its cases which yields the most."""
    return max((list(_refusals(case)) for case in cases), key=len)


def _refusals(base: Case) -> Iterator[Refusal]:
    function = operations.OPERATIONS[base.operation]
    for parameter in function.parameters:
        if parameter.stars and parameter.name != "stream":
            yield Refusal(base.operation, f"null_{parameter.name}", base, {parameter.name: None})
        if parameter.name in sizes_of(function):
            yield Refusal(base.operation, f"negative_{parameter.name}", base, {parameter.name: -1})
        if parameter.limit:
            yield from _out_of_range(base, parameter)
    if overflow := _overflow(function):
        yield Refusal(base.operation, "bytes_past_int64", base, overflow)
    yield from _broken_conditions(function, base)


def sizes_of(function: Function) -> set[str]:
    """Return the integer arguments that stand in a shape."""
    names = {name for p in function.parameters for axis in p.shape for name in axis.size.names}
    names |= {p.each[0] for p in function.parameters if p.each}
    return {p.name for p in function.parameters if p.is_scalar and p.type.is_integer and p.name in names}


def _out_of_range(base: Case, parameter: Parameter) -> Iterator[Refusal]:
    assert parameter.limit
    kind, bound = parameter.limit
    if not set(bound.names) <= {p.name for p in operations.OPERATIONS[base.operation].parameters}:
        return  # the operation is not told the upper end
    yield Refusal(base.operation, f"{parameter.name}_too_large", base, {}, (parameter.name, bound(base.sizes)))
    if kind == "WITHIN":
        yield Refusal(base.operation, f"{parameter.name}_negative", base, {}, (parameter.name, -1))


def _overflow(function: Function) -> dict[str, int] | None:
    """Return sizes at the top of their types, if they make an array of more bytes than int64_t counts."""
    top = {name: function.by_name[name].type.range[1] for name in sizes_of(function)}
    largest = 0
    for p in function.parameters:
        if p.shape and all(set(axis.size.names) <= set(top) for axis in p.shape):
            largest = max(largest, math.prod(axis.size(top) for axis in p.shape) * p.type.dtype.itemsize)
    return top if largest >= 2**63 else None


def _broken_conditions(function: Function, base: Case) -> Iterator[Refusal]:
    """For each REQUIRES the first value that breaks it and no other; and NaN for each number it speaks of."""
    for condition in function.requires:
        if broken := next(_breaking(function, condition, base.sizes), None):
            [(name, bad)] = broken.items()
            text = condition.text.replace(" ", "")
            yield Refusal(base.operation, f"{name}={bad}_breaks_{text}", base, broken)
    spoken_of = {name for condition in function.requires for name in condition.names}
    for name in sorted(spoken_of & operations.float_scalars(function)):
        yield Refusal(base.operation, f"{name}=nan", base, {name: math.nan})


def _breaking(function: Function, condition: Any, sizes: Mapping[str, Any]) -> Iterator[dict[str, int]]:
    """Whole numbers in place of one argument that break this condition and no other."""
    for name in condition.names:
        for bad in (*_TRIED, sizes[name] + 1, 2 * sizes[name] + 1):
            if _breaks_only(function, condition, {**sizes, name: bad}):
                yield {name: bad}


def _breaks_only(function: Function, condition: Any, values: Mapping[str, Any]) -> bool:
    if any(values[name] < 1 for name in sizes_of(function) if name in values):
        return False
    return all((other is condition) != bool(other(values)) for other in function.requires)
